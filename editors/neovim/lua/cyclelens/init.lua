--- The commands: they ask the server and show the answer in a window.
local M = {}

local NAME = "cyclelens"

--- Commands about one region; the server answers each with { title, text }, a measurement with a sentence, and with
--- nothing if it was cancelled.
M.commands = {
  timeline = "cyclelens.timeline",
  instructions = "cyclelens.instructions",
  compare = "cyclelens.compare",
  alignment = "cyclelens.alignment",
  compareRegions = "cyclelens.compareRegions",
  compareHead = "cyclelens.compareHead",
  whatif = "cyclelens.whatif",
  measure = "cyclelens.measure",
  checkRewrites = "cyclelens.checkRewrites",
  history = "cyclelens.history",
}

local REQUEST_CANCELLED = -32800

--- The pending requests: identifier -> client.
---@type table<integer, vim.lsp.Client>
local running = {}

---@param buffer? integer
---@return vim.lsp.Client?
function M.client(buffer)
  return vim.lsp.get_clients({ name = NAME, bufnr = buffer or 0 })[1]
end

---@param message string
local function warn(message)
  vim.notify("Cyclelens: " .. message, vim.log.levels.WARN)
end

--- Send a request; compatible with 0.10, where clients have no methods called with a colon.
---@param buffer integer
---@param method string
---@param params table
---@param done fun(result: any)
---@param quiet? boolean not requested by the user: report no failure
local function request(buffer, method, params, done, quiet)
  local client = M.client(buffer)
  if not client then
    if quiet then
      return
    end
    warn("no server is attached to this buffer; :checkhealth cyclelens says why")
    return
  end
  local id
  local function handler(err, result)
    running[id or 0] = nil
    if err then
      if err.code ~= REQUEST_CANCELLED and not quiet then
        warn(err.message or tostring(err))
      end
    elseif result ~= nil and result ~= vim.NIL then
      done(result)
    end
  end
  local sent
  if vim.fn.has("nvim-0.11") == 1 then
    sent, id = client:request(method, params, handler, buffer)
  else
    sent, id = client.request(method, params, handler, buffer)
  end
  if sent and id then
    running[id] = client
  end
end

--- Cancel all pending commands.
function M.cancel()
  for id, client in pairs(running) do
    if vim.fn.has("nvim-0.11") == 1 then
      client:cancel_request(id)
    else
      client.cancel_request(id)
    end
  end
end

--- Show text in a split of its own; q closes it. A window with the same title is used again.
---@param title string
---@param text string
---@return integer window
function M.show(title, text)
  local name = "cyclelens://" .. title
  local buffer = vim.fn.bufnr(name)
  if buffer == -1 then
    buffer = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_name(buffer, name)
  end
  vim.bo[buffer].modifiable = true
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.split(text, "\n"))
  vim.bo[buffer].modifiable = false
  vim.bo[buffer].bufhidden = "wipe"
  vim.bo[buffer].filetype = "cyclelens"
  local window = vim.fn.bufwinid(buffer)
  if window == -1 then
    vim.cmd("botright split")
    window = vim.api.nvim_get_current_win()
    vim.api.nvim_win_set_buf(window, buffer)
    vim.api.nvim_win_set_height(window, math.min(vim.api.nvim_buf_line_count(buffer) + 1, 25))
  end
  vim.wo[window].wrap = false
  vim.wo[window].number = false
  vim.keymap.set("n", "q", "<cmd>close<cr>", { buffer = buffer, desc = "Close" })
  return window
end

--- Run a command of the server on a region and show the answer.
---@param buffer integer
---@param command string
---@param region string|integer its name, or a line (from zero) around which or below which it is
---@param ... string further arguments of the command
function M.run(buffer, command, region, ...)
  local params = { command = command, arguments = { vim.uri_from_bufnr(buffer), region, ... } }
  request(buffer, "workspace/executeCommand", params, function(answer)
    if type(answer) == "string" then
      vim.notify(answer)
    elseif answer.versions then
      require("cyclelens.history").show(buffer, answer)
    else
      require("cyclelens.timeline").show(buffer, answer, M.show)
    end
  end)
end

--- The commands whose answers a window can follow the text with.
M.followed = { "instructions", "timeline", "compare", "alignment", "whatif" }

--- Show a command's answer about the region at the cursor in one window, and keep it up to date.
---@param name string of `followed`; empty: instructions
function M.follow(name)
  name = name ~= "" and name or "instructions"
  if not vim.tbl_contains(M.followed, name) then
    return warn(("'%s' cannot be followed: %s"):format(name, table.concat(M.followed, ", ")))
  end
  require("cyclelens.follow").start(M.commands[name], request, M.show)
end

--- Run a command on the region at the cursor.
---@param command string
---@param ... string further arguments of the command
function M.run_here(command, ...)
  M.run(vim.api.nvim_get_current_buf(), command, vim.api.nvim_win_get_cursor(0)[1] - 1, ...)
end

--- Run a command that is about the whole document and answers with a sentence, or nothing.
---@param command string
function M.run_on_document(command)
  local buffer = vim.api.nvim_get_current_buf()
  local params = { command = command, arguments = { vim.uri_from_bufnr(buffer) } }
  request(buffer, "workspace/executeCommand", params, function(answer)
    if type(answer) == "string" then
      vim.notify(answer)
    end
  end)
end

--- Show the figures of another microarchitecture until Neovim ends; the server reports unknown names.
---@param name string
function M.choose(name)
  local client = M.client()
  if not client then
    return warn("no server is attached to this buffer; :checkhealth cyclelens says why")
  end
  local chosen = { cyclelens = { microarchitectures = { name } } }
  client.settings = vim.tbl_deep_extend("force", client.settings or {}, chosen)
  if vim.lsp.config then
    -- For a restarted server.
    vim.lsp.config(NAME, { settings = chosen })
  end
  if vim.fn.has("nvim-0.11") == 1 then
    client:notify("workspace/didChangeConfiguration", { settings = client.settings })
  else
    client.notify("workspace/didChangeConfiguration", { settings = client.settings })
  end
end

--- Milliseconds that a command waits for the first analysis of a text.
local FIRST_ANALYSIS = 10000

--- The regions of the buffer as the server knows them now; of one that was just opened, after its first analysis.
---@return table[]
local function known_regions()
  local function ask()
    local params = { textDocument = { uri = vim.uri_from_bufnr(0) } }
    for _, answer in pairs(vim.lsp.buf_request_sync(0, "cyclelens/regions", params, 1000) or {}) do
      if type(answer.result) == "table" then
        return answer.result
      end
    end
    return { regions = {}, upToDate = true }
  end
  local limit = vim.uv.now() + FIRST_ANALYSIS
  local known = ask()
  while #known.regions == 0 and not known.upToDate and vim.uv.now() < limit do
    vim.wait(100)
    known = ask()
  end
  return known.regions
end

--- The names of the buffer's regions, for completion.
---@return string[]
function M.regions()
  return vim.tbl_map(function(region)
    return region.name
  end, known_regions())
end

--- Put the loops of the buffer with their figures into the location list, and open it.
function M.loops()
  local buffer = vim.api.nvim_get_current_buf()
  local items = vim.tbl_map(function(region)
    local said = region.headline ~= "" and region.headline or region.note
    return { bufnr = buffer, lnum = region.firstLine + 1, col = 1, text = region.name .. "  " .. said }
  end, known_regions())
  if #items == 0 then
    return warn("no region is marked, and no loop was found")
  end
  vim.fn.setloclist(0, {}, " ", { title = "Loops", items = items })
  vim.cmd("lopen")
end

--- Put the markers of a region around lines; NASM and MASM know the semicolon only as comment sign.
---@param first? integer counted from one; nil: the loop at the cursor
---@param last? integer
---@param name string empty: that of the loop, or "loop"
function M.mark(first, last, name)
  if not first then
    local line = vim.api.nvim_win_get_cursor(0)[1] - 1
    for _, region in ipairs(known_regions()) do
      if region.unmarked and region.firstLine <= line and line <= region.lastLine then
        first, last = region.firstLine + 1, region.lastLine + 1
        name = name ~= "" and name or (region.name:gsub("^%.L?", ""):gsub("^%d", "loop-%0"))
      end
    end
    if not first then
      return warn("put the cursor into a loop that is not marked yet, or give a range")
    end
  end
  local ending = vim.fn.expand("%:e"):lower()
  local sign = (ending == "asm" or ending == "nasm") and ";" or "#"
  vim.api.nvim_buf_set_lines(0, last, last, true, { sign .. " cyclelens-end" })
  local opening = ("%s cyclelens-begin %s"):format(sign, name ~= "" and name or "loop")
  vim.api.nvim_buf_set_lines(0, first - 1, first - 1, true, { opening })
end

--- The client's capabilities: it shows answers itself, so that the server sends no messages.
---@return lsp.ClientCapabilities
function M.capabilities()
  local capabilities = vim.lsp.protocol.make_client_capabilities()
  capabilities.experimental = { cyclelens = { panels = true, previews = true } }
  return capabilities
end

--- Set everything up; `:help cyclelens-setup` has the options.
---@param options? cyclelens.Options
function M.setup(options)
  require("cyclelens.setup").setup(options)
end

--- The figure of the region at the cursor, for 'statusline'.
---@return string
function M.statusline()
  return require("cyclelens.setup").statusline()
end

return M
