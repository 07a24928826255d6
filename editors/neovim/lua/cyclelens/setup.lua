--- One call that sets everything up, the server's restarts, and the figure for a statusline.
local M = {}

local NAME = "cyclelens"
local MOST_CRASHES, WITHIN_MS = 4, 3 * 60 * 1000

--- What `:CyclelensCpu` completes; the server's own list.
M.cpus = {
  "SNB", "IVB", "HSW", "BDW", "SKL", "SKX", "KBL", "CFL", "CLX", "ICL", "TGL", "RKL", "ADL", "SPR", "MTL", "GNR",
  "LNL", "ARL", "ZEN", "ZEN+", "ZEN2", "ZEN3", "ZEN4", "ZEN5", "native",
}

---@class cyclelens.Options
---@field cmd? string[] the program, if it is not on PATH
---@field settings? table as in docs/server.md: { microarchitectures = { "SKL" } }
---@field hints? boolean show hints inside the text (default: true)
---@field lenses? boolean show the commands above regions (default: true)

--- Configure and enable the server, show its hints and lenses.
---@param options? cyclelens.Options
function M.setup(options)
  options = options or {}
  local config = { settings = { cyclelens = options.settings or {} } }
  config.cmd = options.cmd
  vim.lsp.config(NAME, config)
  local group = vim.api.nvim_create_augroup("cyclelens.setup", { clear = true })
  local function ours(client)
    return client and client.name == NAME
  end
  vim.api.nvim_create_autocmd("LspAttach", {
    group = group,
    callback = function(event)
      if ours(vim.lsp.get_client_by_id(event.data.client_id)) and options.hints ~= false then
        vim.lsp.inlay_hint.enable(true, { bufnr = event.buf })
      end
    end,
  })
  if options.lenses ~= false then
    -- Neovim does not request lenses itself; the end of the progress report marks a finished analysis.
    local function refresh(buffer)
      if M.client(buffer) then
        vim.lsp.codelens.refresh({ bufnr = buffer })
      end
    end
    vim.api.nvim_create_autocmd({ "BufEnter", "InsertLeave", "BufWritePost" }, {
      group = group,
      callback = function(event)
        refresh(event.buf)
      end,
    })
    vim.api.nvim_create_autocmd("LspProgress", {
      group = group,
      pattern = "end",
      callback = function(event)
        if ours(vim.lsp.get_client_by_id(event.data.client_id)) then
          refresh(vim.api.nvim_get_current_buf())
        end
      end,
    })
  end
  vim.api.nvim_create_autocmd({ "VimResized", "WinResized", "WinEnter", "BufWinEnter" }, {
    group = group,
    callback = M.resized,
  })
  vim.lsp.enable(NAME)
end

local FILETYPES = { "asm", "nasm", "masm", "vmasm" }
--- Columns that signs may take as soon as there are diagnostics.
local SIGNS = 2
local width ---@type integer? as the server knows it; nil if the user has set one

---@return integer columns of text in the narrowest window of assembly
local function measured()
  local least = vim.o.columns - SIGNS
  for _, window in ipairs(vim.fn.getwininfo()) do
    if vim.tbl_contains(FILETYPES, vim.bo[window.bufnr].filetype) then
      least = math.min(least, window.width - window.textoff - SIGNS)
    end
  end
  return math.max(math.min(least, 1000), 20)
end

--- Add what the server cannot know of this editor. Hints wrap here, so that those of regions have to fit a window.
---@param settings table those of a client; changed in place, because the client has them already
function M.complete(settings)
  settings.cyclelens = settings.cyclelens or {}
  local hints = settings.cyclelens.hints or {}
  if not hints.width or hints.width == width then
    width = measured()
    hints.width = width
  end
  hints.tabSize = hints.tabSize or (vim.o.tabstop <= 16 and vim.o.tabstop or nil)
  settings.cyclelens.hints = hints
end

--- Tell the server that windows have another width.
function M.resized()
  local now = measured()
  if not width or now == width then
    return
  end
  width = now
  for _, client in ipairs(vim.lsp.get_clients({ name = NAME })) do
    local changed = { cyclelens = { hints = { width = width } } }
    client.settings = vim.tbl_deep_extend("force", client.settings or {}, changed)
    client:notify("workspace/didChangeConfiguration", { settings = client.settings })
  end
end

---@param buffer integer
---@return vim.lsp.Client?
function M.client(buffer)
  return vim.lsp.get_clients({ name = NAME, bufnr = buffer })[1]
end

---@return string program
function M.program()
  local config = vim.lsp.config and vim.lsp.config[NAME]
  local cmd = config and config.cmd
  return type(cmd) == "table" and cmd[1] or NAME
end

local told = false

--- Report once, for a buffer that needs the server, that the program is missing; nothing else does.
function M.check_program()
  local enabled = vim.lsp.is_enabled and vim.lsp.is_enabled(NAME)
  if enabled and not told and vim.fn.executable(M.program()) == 0 then
    told = true
    local advice = "install it (pip install . in its folder) or name it in setup({ cmd = ... }); :checkhealth cyclelens"
    vim.notify(("Cyclelens: the program '%s' is not found: %s"):format(M.program(), advice), vim.log.levels.WARN)
  end
end

local intended = {} ---@type table<integer, boolean>
local crashes = {} ---@type number[]

--- Start the server again for all buffers that had it.
function M.restart()
  for _, client in ipairs(vim.lsp.get_clients({ name = NAME })) do
    intended[client.id] = true
    client:stop(true)
  end
  vim.defer_fn(function()
    vim.lsp.enable(NAME)
  end, 100)
end

--- The client's `on_exit`: restart a server that ended by itself, but not forever.
---@param code integer
---@param signal integer
---@param id integer
function M.exited(code, signal, id)
  if intended[id] or vim.v.exiting ~= vim.NIL or (code == 0 and signal == 0) then
    intended[id] = nil
    return
  end
  local now = vim.uv.now()
  crashes = vim.tbl_filter(function(at)
    return now - at < WITHIN_MS
  end, crashes)
  crashes[#crashes + 1] = now
  vim.schedule(function()
    if #crashes < MOST_CRASHES then
      M.restart()
    else
      local message = "Cyclelens: the server ended %d times within three minutes; :CyclelensRestart tries again"
      vim.notify(message:format(#crashes), vim.log.levels.ERROR)
    end
  end)
end

local regions = {} ---@type table<integer, table[]>
local asked = {} ---@type table<integer, number>

---@param buffer integer
local function ask(buffer)
  local client, now = M.client(buffer), vim.uv.now()
  if not client or now - (asked[buffer] or -1000) < 300 then
    return
  end
  asked[buffer] = now
  local params = { textDocument = { uri = vim.uri_from_bufnr(buffer) } }
  client:request("cyclelens/regions", params, function(_, answer)
    local found = answer and answer.regions or {}
    if not vim.deep_equal(found, regions[buffer]) then
      regions[buffer] = found
      vim.cmd.redrawstatus()
    end
  end, buffer)
end

--- The figure of the region at the cursor, `4.00 cycles/iter · SKL`; empty where there is none. For 'statusline':
--- `%{v:lua.require'cyclelens'.statusline()}`.
---@return string
function M.statusline()
  local buffer = vim.api.nvim_get_current_buf()
  ask(buffer)
  local line = vim.api.nvim_win_get_cursor(0)[1] - 1
  local shown
  for _, region in ipairs(M.client(buffer) and regions[buffer] or {}) do
    if not shown or shown.lastLine < line then
      shown = region
    end
  end
  return shown and shown.status or ""
end

return M
