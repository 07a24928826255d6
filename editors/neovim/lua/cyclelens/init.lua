--- What the commands do: ask the server, show the answer in a window.
local M = {}

local NAME = "cyclelens"

--- Commands that lenses run; the server answers each with { title, text }.
M.commands = { timeline = "cyclelens.timeline", compare = "cyclelens.compare", alignment = "cyclelens.alignment" }

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
local function request(buffer, method, params, done)
  local client = M.client(buffer)
  if not client then
    warn("no server is attached to this buffer; :checkhealth cyclelens says why")
    return
  end
  local function handler(err, result)
    if err then
      warn(err.message or tostring(err))
    elseif result ~= nil then
      done(result)
    end
  end
  if vim.fn.has("nvim-0.11") == 1 then
    client:request(method, params, handler, buffer)
  else
    client.request(method, params, handler, buffer)
  end
end

--- The region around a line, or the first one below it.
---@param regions table[] as the server answers them
---@param line integer zero-based
---@return table?
function M.region_at(regions, line)
  for _, region in ipairs(regions) do
    if line <= region.lastLine then
      return region
    end
  end
  return regions[#regions]
end

--- Show text in a split of its own; q closes it. A window that shows the same thing already is used again.
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
---@param region string
function M.run(buffer, command, region)
  local params = { command = command, arguments = { vim.uri_from_bufnr(buffer), region } }
  request(buffer, "workspace/executeCommand", params, function(answer)
    M.show(answer.title, answer.text)
  end)
end

--- Run a command on the region at the cursor.
---@param command string
function M.run_here(command)
  local buffer = vim.api.nvim_get_current_buf()
  local line = vim.api.nvim_win_get_cursor(0)[1] - 1
  local params = { textDocument = { uri = vim.uri_from_bufnr(buffer) } }
  request(buffer, "cyclelens/analysis", params, function(answer)
    local region = M.region_at(answer.regions or {}, line)
    if region then
      M.run(buffer, command, region.name)
    else
      warn("there is no region in this file: put '# cyclelens-begin NAME' and '# cyclelens-end' around a loop")
    end
  end)
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

--- What a client has to tell the server: that answers are shown here and need no message.
---@return lsp.ClientCapabilities
function M.capabilities()
  local capabilities = vim.lsp.protocol.make_client_capabilities()
  capabilities.experimental = { cyclelens = { panels = true } }
  return capabilities
end

return M
