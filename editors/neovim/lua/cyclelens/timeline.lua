--- The window with the timeline: colours, keys, and what the uop at the cursor waited for.
local M = {}

local namespace = vim.api.nvim_create_namespace("cyclelens.timeline")
local names = vim.api.nvim_create_namespace("cyclelens.timeline.names")

--- Most characters of a name at the left edge.
local NAME = 18

--- Meaning of the background colours, which are those of the HTML report.
local colours = {
  light = {
    Front = { bg = "#e3d8f5", ctermbg = 183 },
    Queue = { bg = "#cfdff8", ctermbg = 153 },
    Delay = { bg = "#f3efe2", ctermbg = 230 },
    Inputs = { bg = "#f2d98c", ctermbg = 222 },
    Port = { bg = "#f7bfa5", ctermbg = 216 },
    Execution = { bg = "#9ddcae", ctermbg = 151 },
    Done = { bg = "#e0e3e6", ctermbg = 254 },
    Chain = { fg = "#c0222b", ctermfg = 124, bold = true },
    Full = { fg = "#b05f00", ctermfg = 130 },
  },
  dark = {
    Front = { bg = "#43345f", ctermbg = 54 },
    Queue = { bg = "#233e66", ctermbg = 24 },
    Delay = { bg = "#2e2b22", ctermbg = 236 },
    Inputs = { bg = "#6b5610", ctermbg = 94 },
    Port = { bg = "#7d3a20", ctermbg = 130 },
    Execution = { bg = "#1e6b38", ctermbg = 22 },
    Done = { bg = "#343a42", ctermbg = 238 },
    Chain = { fg = "#ff7b72", ctermfg = 203, bold = true },
    Full = { fg = "#f0a050", ctermfg = 215 },
  },
}

--- Groups that a colour scheme or the user can set; these are the defaults.
local function highlights()
  for name, value in pairs(colours[vim.o.background] or colours.dark) do
    vim.api.nvim_set_hl(0, "Cyclelens" .. name, vim.tbl_extend("force", { default = true }, value))
  end
  vim.api.nvim_set_hl(0, "CyclelensHeading", { default = true, link = "Title" })
  vim.api.nvim_set_hl(0, "CyclelensName", { default = true, link = "Normal" })
end

---@param buffer integer
---@param marks table[] line, begin, end (in characters), kind
local function paint(buffer, marks)
  vim.api.nvim_buf_clear_namespace(buffer, namespace, 0, -1)
  local lines = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
  for _, mark in ipairs(marks) do
    local line, first, last, kind = mark[1], mark[2], mark[3], mark[4]
    local text = lines[line + 1]
    local from, to = vim.fn.byteidx(text, first), vim.fn.byteidx(text, last)
    if from >= 0 then
      vim.api.nvim_buf_set_extmark(buffer, namespace, line, from, {
        end_col = to >= 0 and to or #text,
        hl_group = "Cyclelens" .. kind:sub(1, 1):upper() .. kind:sub(2),
      })
    end
  end
end

--- Most lines of the small window.
local MOST = 8

--- Show in a small corner window what the uop at the cursor waited for.
---@param state table
local function explain(state)
  local row = vim.api.nvim_win_get_cursor(state.window)[1]
  local about = state.lines[row]
  local lines = about and about.waits and about.waits ~= "" and vim.split(about.waits, "\n") or {}
  if #lines == 0 then
    if state.float and vim.api.nvim_win_is_valid(state.float) then
      vim.api.nvim_win_close(state.float, true)
    end
    state.float = nil
    return
  end
  table.insert(lines, 1, ("iteration %d: %s"):format(about.iteration, about.name))
  local width = 0
  for _, line in ipairs(lines) do
    width = math.max(width, vim.fn.strdisplaywidth(line))
  end
  local room = math.max(20, vim.api.nvim_win_get_width(state.window) - 4)
  width = math.min(width, room)
  local needed = 0
  for _, line in ipairs(lines) do
    needed = needed + math.max(1, math.ceil(vim.fn.strdisplaywidth(line) / width))
  end
  if not (state.note and vim.api.nvim_buf_is_valid(state.note)) then
    state.note = vim.api.nvim_create_buf(false, true)
    vim.bo[state.note].bufhidden = "hide"
  end
  vim.api.nvim_buf_set_lines(state.note, 0, -1, false, lines)
  -- In the corner away from the cursor.
  local height = vim.api.nvim_win_get_height(state.window)
  local above = vim.api.nvim_win_call(state.window, vim.fn.winline) > height / 2
  local config = {
    relative = "win",
    win = state.window,
    anchor = above and "NE" or "SE",
    row = above and 0 or height,
    col = vim.api.nvim_win_get_width(state.window),
    width = width,
    height = math.max(1, math.min(needed, MOST, height - 4)),
    focusable = false,
    style = "minimal",
    border = "rounded",
  }
  if state.float and vim.api.nvim_win_is_valid(state.float) then
    vim.api.nvim_win_set_config(state.float, config)
  else
    state.float = vim.api.nvim_open_win(state.note, false, vim.tbl_extend("force", config, { noautocmd = true }))
    vim.wo[state.float].wrap = true
    vim.wo[state.float].linebreak = true
  end
end

--- Keep the names of the uops at the left edge while the picture is scrolled sideways.
---@param state table
local function name(state)
  local view = vim.api.nvim_win_call(state.window, vim.fn.winsaveview)
  if view.leftcol == state.leftcol then
    return
  end
  state.leftcol = view.leftcol
  vim.api.nvim_buf_clear_namespace(state.buffer, names, 0, -1)
  for row, about in pairs(view.leftcol > 0 and state.lines or {}) do
    if type(about) == "table" and about.name then
      local text = vim.fn.strcharpart(about.name, 0, NAME)
      vim.api.nvim_buf_set_extmark(state.buffer, names, row - 1, 0, {
        virt_text = { { text .. (" "):rep(NAME + 1 - vim.fn.strdisplaywidth(text)), "CyclelensName" } },
        virt_text_win_col = 0,
      })
    end
  end
end

--- Go to the next or previous line for which the condition holds.
---@param state table
---@param step integer
---@param condition fun(about: table): boolean
local function go(state, step, condition)
  local row = vim.api.nvim_win_get_cursor(state.window)[1] + step
  while state.lines[row] do
    if condition(state.lines[row]) then
      vim.cmd("normal! m'")
      vim.api.nvim_win_set_cursor(state.window, { row, 0 })
      return
    end
    row = row + step
  end
end

--- Go to the first uop of the next or previous iteration.
---@param state table
---@param step integer
local function iteration(state, step)
  local row = vim.api.nvim_win_get_cursor(state.window)[1]
  local now = (state.lines[row] or {}).iteration
  local wanted
  go(state, step, function(about)
    wanted = wanted or (about.iteration ~= now and about.iteration or nil)
    return wanted ~= nil and about.iteration == wanted
  end)
  -- Backwards it is met at its end.
  row = vim.api.nvim_win_get_cursor(state.window)[1]
  while wanted and state.lines[row - 1] and state.lines[row - 1].iteration == wanted do
    row = row - 1
  end
  vim.api.nvim_win_set_cursor(state.window, { row, 0 })
end

--- Go to the statement of the uop at the cursor.
---@param state table
local function source(state)
  local about = state.lines[vim.api.nvim_win_get_cursor(state.window)[1]]
  local window = vim.fn.bufwinid(state.source)
  if about and about.source and window ~= -1 then
    vim.api.nvim_set_current_win(window)
    local last = vim.api.nvim_buf_line_count(state.source)
    vim.api.nvim_win_set_cursor(window, { math.min(about.source + 1, last), 0 })
  end
end

--- What the letters mean, above the picture, wherever it is scrolled to.
---@param state table
---@param row integer
local function legend(state, row)
  local words = ""
  for _, one in ipairs(state.legends) do
    words = one[1] < row and one[2] or words
  end
  vim.wo[state.window].winbar = words .. "%<"
end

--- The row where the execution of the critical chain begins, and its column in characters; of a region that no
--- chain limits the first uop.
---@param answer table
---@return integer|nil row from one
---@return integer|nil column
local function start(answer)
  for _, mark in ipairs(answer.marks) do
    if mark[4] == "chain" then
      for _, other in ipairs(answer.marks) do
        if other[1] == mark[1] and other[4] == "execution" then
          return mark[1] + 1, other[2]
        end
      end
    end
  end
  for row, about in ipairs(answer.lines) do
    if about.iteration then
      return row, about.column
    end
  end
end

--- The cursor goes where something happens to the uop, and stays in its column while it moves sideways.
---@param state table
local function moved(state)
  local row = vim.api.nvim_win_get_cursor(state.window)[1]
  local about = state.lines[row]
  if row ~= state.row and about and about.column then
    local text = vim.api.nvim_buf_get_lines(state.buffer, row - 1, row, false)[1]
    vim.api.nvim_win_set_cursor(state.window, { row, math.max(0, vim.fn.byteidx(text, about.column)) })
  end
  state.row = row
  name(state)
  legend(state, row)
  explain(state)
end

--- Show the answer of `cyclelens.timeline`.
---@param origin integer the buffer with the kernel
---@param answer table title, text, marks, lines
---@param show fun(title: string, text: string): integer
function M.show(origin, answer, show)
  local window = show(answer.title, answer.text)
  if not answer.lines then
    return
  end
  local buffer = vim.api.nvim_win_get_buf(window)
  highlights()
  paint(buffer, answer.marks)
  vim.wo[window].cursorline = true
  vim.wo[window].cursorcolumn = true
  vim.wo[window].sidescrolloff = NAME + 2
  local state = { window = window, buffer = buffer, source = origin, lines = answer.lines, legends = answer.legends }
  local function map(keys, action, description)
    vim.keymap.set("n", keys, action, { buffer = buffer, desc = description })
  end
  map("]]", function()
    iteration(state, 1)
  end, "Next iteration")
  map("[[", function()
    iteration(state, -1)
  end, "Previous iteration")
  map("<CR>", function()
    source(state)
  end, "Go to the statement")
  map("gp", function()
    vim.fn.search("^port: ", "w")
  end, "Go to the ports and buffers")
  local group = vim.api.nvim_create_augroup("cyclelens.timeline." .. buffer, { clear = true })
  vim.api.nvim_create_autocmd("CursorMoved", {
    group = group,
    buffer = buffer,
    callback = function()
      moved(state)
    end,
  })
  vim.api.nvim_create_autocmd("WinScrolled", {
    group = group,
    pattern = tostring(window),
    callback = function()
      name(state)
    end,
  })
  vim.api.nvim_create_autocmd({ "BufWinLeave", "WinClosed" }, {
    group = group,
    buffer = buffer,
    callback = function()
      if state.float and vim.api.nvim_win_is_valid(state.float) then
        vim.api.nvim_win_close(state.float, true)
      end
      state.float = nil
    end,
  })
  vim.api.nvim_create_autocmd("ColorScheme", { group = group, callback = highlights })
  local row, column = start(answer)
  if row then
    state.row = row
    local text = vim.api.nvim_buf_get_lines(buffer, row - 1, row, false)[1]
    vim.api.nvim_win_set_cursor(window, { row, math.max(0, vim.fn.byteidx(text, column)) })
    moved(state)
  end
end

return M
