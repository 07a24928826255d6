--- One window that follows the text: it shows the answer of a command about the region at the cursor, again after
--- each change and whenever the cursor comes to another region.
local M = {}

--- Milliseconds without a key before it asks the server.
local DELAY = 300

--- The followed command and its window; nil: none.
---@type table?
local state

--- Stop following; the window stays as it is.
function M.stop()
  if state then
    vim.api.nvim_clear_autocmds({ group = state.group })
    state.timer:stop()
    state.timer:close()
    state = nil
  end
end

---@param regions table[]
---@param line integer from zero
---@return table? region the innermost one around the line, else the next one below
local function around(regions, line)
  local best
  for _, region in ipairs(regions) do
    local inside = region.firstLine <= line and line <= region.lastLine
    if inside and (not best or best.firstLine > line or region.firstLine >= best.firstLine) then
      best = region
    elseif region.firstLine > line and not best then
      best = region
    end
  end
  return best
end

---@param text string
local function write(text)
  local view = vim.api.nvim_win_call(state.window, vim.fn.winsaveview)
  vim.bo[state.buffer].modifiable = true
  vim.api.nvim_buf_set_lines(state.buffer, 0, -1, false, vim.split(text, "\n"))
  vim.bo[state.buffer].modifiable = false
  vim.api.nvim_win_call(state.window, function()
    vim.fn.winrestview(view)
  end)
end

---@param ask fun(buffer: integer, method: string, params: table, done: fun(result: any), quiet: boolean)
local function update(ask)
  local now = state
  local origin = now and vim.fn.bufwinid(now.origin) or -1
  if not now or not vim.api.nvim_win_is_valid(now.window) then
    return M.stop()
  end
  if origin == -1 then
    return
  end
  local line = vim.api.nvim_win_get_cursor(origin)[1] - 1
  local uri = vim.uri_from_bufnr(now.origin)
  ask(now.origin, "cyclelens/regions", { textDocument = { uri = uri } }, function(known)
    local region = around(known.regions or {}, line)
    local wanted = region and (region.name .. " " .. vim.api.nvim_buf_get_changedtick(now.origin))
    if now ~= state or not wanted or wanted == now.shown then
      return
    end
    now.shown = wanted
    local params = { command = now.command, arguments = { uri, region.name } }
    ask(now.origin, "workspace/executeCommand", params, function(answer)
      if now == state and now.shown == wanted and vim.api.nvim_win_is_valid(now.window) then
        write(answer.title .. "\n\n" .. answer.text)
      end
    end, true)
  end, true)
end

--- Begin, with the region at the cursor.
---@param command string
---@param ask fun(buffer: integer, method: string, params: table, done: fun(result: any), quiet: boolean)
---@param show fun(title: string, text: string): integer
function M.start(command, ask, show)
  M.stop()
  local origin, from = vim.api.nvim_get_current_buf(), vim.api.nvim_get_current_win()
  local window = show("live", "")
  vim.api.nvim_win_set_height(window, math.floor(vim.o.lines / 3))
  vim.api.nvim_set_current_win(from)
  state = {
    origin = origin,
    window = window,
    buffer = vim.api.nvim_win_get_buf(window),
    command = command,
    timer = assert(vim.uv.new_timer()),
    group = vim.api.nvim_create_augroup("cyclelens.follow", { clear = true }),
  }
  vim.api.nvim_create_autocmd({ "TextChanged", "TextChangedI", "CursorMoved", "CursorMovedI" }, {
    group = state.group,
    buffer = origin,
    callback = function()
      state.timer:start(
        DELAY,
        0,
        vim.schedule_wrap(function()
          update(ask)
        end)
      )
    end,
  })
  update(ask)
end

return M
