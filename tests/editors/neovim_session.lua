-- What a user does, in a real Neovim without a window. Writes what was seen as JSON into $CYCLELENS_SEEN.
local seen = {}

local function finish()
  local file = assert(io.open(vim.env.CYCLELENS_SEEN, "w"))
  file:write(vim.json.encode(seen))
  file:close()
  vim.cmd("qa!")
end

local function labels()
  local found = {}
  for _, hint in ipairs(vim.lsp.inlay_hint.get({ bufnr = 0 })) do
    local position = hint.inlay_hint.position
    found[#found + 1] = { position.line, position.character, vim.trim(hint.inlay_hint.label) }
  end
  return found
end

-- The text of each line that has a hint, up to where the hint ends.
local function drawn()
  return vim.tbl_map(function(hint)
    local line = hint.inlay_hint.position.line
    return vim.api.nvim_buf_get_lines(0, line, line + 1, false)[1] .. hint.inlay_hint.label
  end, vim.lsp.inlay_hint.get({ bufnr = 0 }))
end

local function wait(what, condition)
  if not vim.wait(30000, condition, 20) then
    seen.trouble = "waited in vain for " .. what .. "; shown: " .. vim.inspect(drawn())
    finish()
  end
end

local function says(text)
  for _, diagnostic in ipairs(vim.diagnostic.get(0)) do
    if diagnostic.message:find(text, 1, true) then
      return true
    end
  end
  return false
end

local function has(text)
  for _, label in ipairs(labels()) do
    if vim.startswith(label[3], text) then
      return true
    end
  end
  return false
end

local function window(title)
  return vim.fn.bufwinid("cyclelens://" .. title)
end

local function content(title)
  wait(title, function()
    return window(title) ~= -1
  end)
  local lines = vim.api.nvim_buf_get_lines(vim.fn.bufnr("cyclelens://" .. title), 0, -1, false)
  vim.api.nvim_win_close(window(title), true)
  return table.concat(lines, "\n")
end

local function run()
  -- The program is missing at first: one message says so.
  local notify = vim.notify
  vim.notify = function(message)
    seen.missing = message
  end
  require("cyclelens").setup({ cmd = { "/nowhere/cyclelens", "lsp" } })
  vim.bo.filetype = "asm"
  vim.notify = notify
  vim.cmd("enew!")
  require("cyclelens").setup({ cmd = { "cyclelens", "lsp" } })
  vim.cmd.edit(vim.env.CYCLELENS_FILE)
  wait("hints", function()
    return has("3.44 cycles/iter")
  end)
  seen.opened = labels()
  seen.diagnostics = vim.tbl_map(function(diagnostic)
    return { diagnostic.lnum, diagnostic.code }
  end, vim.diagnostic.get(0))

  wait("the price of the stall", function()
    return says("It costs 2.44 cycles per iteration here.")
  end)
  wait("the heat", function()
    return vim.fn.match(drawn(), "[▁-█]") >= 0
  end)
  seen.drawn = drawn()
  -- A wider window has room for more.
  vim.o.columns = 120
  vim.api.nvim_exec_autocmds("VimResized", {})
  wait("a longer hint", function()
    return drawn()[1] ~= seen.drawn[1]
  end)
  seen.wide = drawn()
  vim.o.columns = 80
  vim.api.nvim_exec_autocmds("VimResized", {})
  wait("the shorter hint", function()
    return drawn()[1] ~= seen.wide[1]
  end)
  seen.offset = vim.fn.getwininfo(vim.api.nvim_get_current_win())[1].textoff
  local hover = vim.lsp.util.make_position_params(0, "utf-16")
  hover.position = { line = 2, character = 4 }
  for _, answer in pairs(vim.lsp.buf_request_sync(0, "textDocument/hover", hover, 10000) or {}) do
    seen.hover = answer.result and answer.result.contents.value
  end

  wait("colours", function()
    return #(vim.lsp.semantic_tokens.get_at_pos(0, 2, 4) or {}) > 0
  end)
  seen.colours = vim.tbl_map(function(column)
    return vim.lsp.semantic_tokens.get_at_pos(0, 2, column)[1].type
  end, { 4, 9, 17 })

  vim.cmd("CyclelensWhatIf")
  seen.whatif = content("What would help immediate")

  -- The rewrite with the cursor on the stall, as from the menu of code actions.
  vim.api.nvim_win_set_cursor(0, { 3, 4 })
  local client = require("cyclelens").client()
  local action
  wait("a code action", function()
    local params = vim.lsp.util.make_range_params(0, client.offset_encoding)
    params.context = { diagnostics = {} }
    local answer = client:request_sync("textDocument/codeAction", params, 5000, 0)
    for _, found in ipairs(answer and answer.result or {}) do
      if found.title:find("Use eax", 1, true) then
        action = found
      end
    end
    return action ~= nil
  end)
  seen.action = action.title
  vim.lsp.util.apply_workspace_edit(action.edit, client.offset_encoding)
  seen.line = vim.api.nvim_buf_get_lines(0, 2, 3, false)[1]
  wait("the change", function()
    return has("3.44 -> ")
  end)
  seen.edited = labels()

  -- Its history: HEAD has none here, the first figure is the one before the rewrite.
  local choose_version = vim.ui.select
  vim.ui.select = function(items, options, choose)
    seen.history = vim.tbl_map(options.format_item, items)
    choose(items[#items])
  end
  vim.cmd("CyclelensHistory")
  wait("the difference", function()
    return vim.fn.tabpagenr("$") == 2
  end)
  vim.ui.select = choose_version
  seen.old = vim.api.nvim_buf_get_lines(0, 2, 3, false)[1]
  vim.api.nvim_feedkeys("q", "xt", false)

  vim.cmd("CyclelensPin")
  wait("the baseline", function()
    return not has("3.44 -> ")
  end)
  vim.cmd("CyclelensUnpin")
  wait("the last save", function()
    return has("3.44 -> ")
  end)

  vim.cmd("CyclelensCompare")
  seen.compare = content("immediate on every microarchitecture")
  vim.cmd("CyclelensAlignment")
  seen.alignment = content("immediate at every alignment, SKL")
  vim.cmd("CyclelensCompareWith immediate")
  seen.pair = content("immediate against immediate")
  vim.cmd("CyclelensCompareHead")
  seen.head = content("immediate against HEAD")
  seen.names = vim.fn.getcompletion("CyclelensCompareWith ", "cmdline")
  vim.cmd("CyclelensTimeline")
  wait("the timeline", function()
    return window("Timeline of immediate") ~= -1
  end)
  vim.api.nvim_set_current_win(window("Timeline of immediate"))
  local function press(keys)
    vim.api.nvim_feedkeys(vim.keycode(keys), "xt", false)
    vim.api.nvim_exec_autocmds("CursorMoved", { buffer = 0 })
  end
  press("]]]]j")
  for _, other in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(other).relative ~= "" then
      local note = vim.api.nvim_win_get_buf(other)
      seen.waits = table.concat(vim.api.nvim_buf_get_lines(note, 0, -1, false), "\n")
    end
  end
  local marks = vim.api.nvim_create_namespace("cyclelens.timeline")
  seen.marks = {}
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, marks, 0, -1, { details = true })) do
    seen.marks[mark[4].hl_group] = true
  end
  press("<CR>")
  seen.source = vim.api.nvim_get_current_line()
  seen.timeline = content("Timeline of immediate")

  -- A window that follows the text.
  local kernel = vim.api.nvim_get_current_buf()
  vim.cmd("CyclelensFollow")
  seen.stayed = vim.api.nvim_get_current_buf() == kernel
  local function live()
    local number = vim.fn.bufnr("cyclelens://live")
    return number == -1 and "" or table.concat(vim.api.nvim_buf_get_lines(number, 0, -1, false), "\n")
  end
  wait("the window that follows", function()
    return live():find("dec", 1, true)
  end)
  seen.followed = live()
  vim.api.nvim_buf_set_lines(kernel, 3, 3, false, { "    imul %rbx, %rbx" })
  vim.api.nvim_exec_autocmds("TextChanged", { buffer = kernel })
  wait("the new text", function()
    return live():find("imul", 1, true)
  end)
  vim.api.nvim_buf_set_lines(kernel, 3, 4, false, {})
  vim.api.nvim_exec_autocmds("TextChanged", { buffer = kernel })
  wait("the old text", function()
    return not live():find("imul", 1, true)
  end)
  vim.api.nvim_win_close(window("live"), true)

  -- A lens, as if it was clicked.
  wait("lenses", function()
    return #vim.lsp.codelens.get(0) >= 3
  end)
  seen.lenses = vim.tbl_map(function(lens)
    return lens.command.title
  end, vim.lsp.codelens.get(0))
  local command = vim.lsp.codelens.get(0)[2].command
  vim.lsp.commands[command.command](command, {})
  seen.clicked = content("immediate on every microarchitecture")

  -- Measuring asks first; a machine that is busy may need several tries.
  seen.asked, seen.measured = 0, ""
  vim.ui.select = function(items, _, choose)
    seen.asked = seen.asked + 1
    choose(items[1])
  end
  local function measured()
    for _, label in ipairs(labels()) do
      if label[3]:find("measured", 1, true) then
        seen.measured = label[3]
      end
    end
    return seen.measured ~= ""
  end
  for _ = 1, vim.env.CYCLELENS_MEASURES == "1" and 10 or 0 do
    if seen.measured == "" then
      vim.cmd("CyclelensMeasure")
      vim.wait(3000, measured, 20)
    end
  end

  -- The advice on the region's line, and the code action that follows it.
  vim.cmd.write({ bang = true })
  vim.cmd.edit(vim.fn.fnamemodify(vim.env.CYCLELENS_FILE, ":h") .. "/chained.s")
  vim.api.nvim_buf_set_lines(0, 0, -1, true, {
    "# cyclelens-begin dot",
    ".Ldot:",
    "    vmovups (%rdi), %ymm1",
    "    vmovups 32(%rdi), %ymm2",
    "    vfmadd231ps (%rsi), %ymm1, %ymm0",
    "    vfmadd231ps 32(%rsi), %ymm2, %ymm0",
    "    add $64, %rdi",
    "    add $64, %rsi",
    "    dec %rcx",
    "    jnz .Ldot",
    "# cyclelens-end",
  })
  wait("the advice", function()
    -- As much as fits 80 columns.
    return has("0.500 · SKL · latency-bound · four accumulators: 0.125")
  end)
  -- Later figures are compared with those of the last save.
  vim.cmd.write({ bang = true })
  for _, words in ipairs({
    { "init", "-q" },
    { "add", "chained.s" },
    { "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qm", "a kernel" },
  }) do
    assert(vim.system(vim.list_extend({ "git" }, words), { cwd = vim.fn.expand("%:h") }):wait().code == 0)
  end
  vim.api.nvim_win_set_cursor(0, { 5, 4 })
  local function preview()
    vim.lsp.buf.code_action({
      apply = true,
      filter = function(found)
        return found.title:find("four accumulators", 1, true) ~= nil
      end,
    })
    wait("the difference", function()
      return vim.fn.tabpagenr("$") == 2
    end)
  end
  local before_rewrite = vim.fn.getline(1, "$")
  preview()
  seen.preview = { title = vim.wo.winbar, text = vim.api.nvim_buf_get_lines(0, 0, -1, false), differs = vim.wo.diff }
  seen.preview.beside = { vim.wo[vim.fn.win_getid(1)].winbar, vim.wo[vim.fn.win_getid(2)].winbar }
  wait("what the rewrite does", function()
    for _, one in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
      if vim.api.nvim_win_get_config(one).relative ~= "" then
        seen.preview.details = table.concat(vim.fn.getbufline(vim.api.nvim_win_get_buf(one), 1, "$"), " ")
        return true
      end
    end
  end)
  press("q")
  seen.discarded = vim.deep_equal(before_rewrite, vim.api.nvim_buf_get_lines(0, 0, -1, false))

  -- Whether the rewrites compute the same; the question was answered before.
  seen.checked = ""
  if vim.env.CYCLELENS_MEASURES == "1" then
    local said
    vim.notify = function(message)
      said = message
    end
    vim.cmd("CyclelensCheck")
    wait("the answer", function()
      return said
    end)
    vim.notify = notify
    seen.checked = said
  end

  preview()
  press("<CR>")
  wait("what it brought", function()
    return has("0.500 -> 0.125 cycles/float, 4.0x")
  end)
  seen.rewritten = vim.api.nvim_buf_get_lines(0, 0, -1, false)
  vim.cmd("CyclelensCompareHead")
  seen.committed = content("dot against HEAD")
  vim.ui.select = function(items, options)
    seen.since_head = vim.tbl_map(options.format_item, items)
  end
  vim.cmd("CyclelensHistory")
  wait("the versions", function()
    return seen.since_head
  end)
  vim.ui.select = choose_version

  -- What costs nothing is one line.
  vim.cmd.write({ bang = true })
  vim.cmd.edit(vim.fn.fnamemodify(vim.env.CYCLELENS_FILE, ":h") .. "/hidden.s")
  vim.api.nvim_buf_set_lines(0, 0, -1, true, {
    "# cyclelens-begin hidden mode=unroll",
    "    imul %rax, %rax",
    "    imul %rax, %rax",
    "    imul %rax, %rax",
    "    add $0x1234, %cx",
    "# cyclelens-end",
  })
  wait("the price of a stall that nobody waits for", function()
    return says("1 finding costs 0.00 cycles here: lcp-stall (line 5).")
  end)
  seen.folded = vim.tbl_map(function(diagnostic)
    return { diagnostic.lnum, diagnostic.code }
  end, vim.diagnostic.get(0))

  -- A file of one's own, without markers.
  vim.cmd.write({ bang = true })
  vim.cmd.edit(vim.fn.fnamemodify(vim.env.CYCLELENS_FILE, ":h") .. "/own.s")
  vim.api.nvim_buf_set_lines(0, 0, -1, true, { "    xor %eax, %eax", ".Lnext:", "    imul %rdi, %rax", "    jnz .Lnext" })
  wait("the loop without markers", function()
    return has("3.00 cycles/iter")
  end)
  vim.cmd("CyclelensLoops")
  seen.loops = vim.tbl_map(function(item)
    return item.text
  end, vim.fn.getloclist(0))
  vim.cmd("lclose")
  vim.api.nvim_win_set_cursor(0, { 3, 0 })
  vim.cmd("CyclelensMark")
  wait("the marked loop", function()
    return has("3.00 cycles/iter")
  end)
  seen.marked = vim.api.nvim_buf_get_lines(0, 0, -1, false)
  vim.cmd("CyclelensCpu ICL")
  wait("the other CPU", function()
    return has("3.00 cycles/iter · ICL")
  end)
  vim.cmd.write()

  wait("the figure for the statusline", function()
    return require("cyclelens").statusline() == "3.00 cycles/iter · ICL"
  end)
  seen.completed = vim.fn.getcompletion("CyclelensCpu z", "cmdline")

  -- Killed and restarted by itself; then by command.
  local function server()
    local found = require("cyclelens").client()
    return found and not found:is_stopped() and found.id
  end
  vim.api.nvim_buf_set_lines(0, 3, 3, true, { "    imul %rdi, %rax" })
  wait("the change", function()
    return has("3.00 -> 6.00, +100 % time")
  end)
  local before = server()
  for _, process in ipairs(vim.api.nvim_get_proc_children(vim.fn.getpid())) do
    local about = vim.api.nvim_get_proc(process)
    if about and (about.name:find("cyclelens") or about.name:find("python")) then
      vim.uv.kill(process, "sigkill")
    end
  end
  wait("another server that remembers what was saved", function()
    return server() and server() ~= before and has("3.00 -> 6.00, +100 % time")
  end)
  before = server()
  vim.cmd("CyclelensRestart")
  wait("a third server", function()
    return server() and server() ~= before and (has("6.00") or has("3.00 -> 6.00"))
  end)
  seen.restarted = true

  -- A chain of many cycles in a window of 80 columns.
  vim.cmd("CyclelensTimeline")
  local function timeline()
    for _, one in ipairs(vim.api.nvim_list_wins()) do
      if vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(one)):find("Timeline of", 1, true) then
        return one
      end
    end
  end
  wait("the timeline of the chain", timeline)
  vim.api.nvim_set_current_win(timeline())
  local chain = { line = vim.api.nvim_get_current_line(), byte = vim.fn.col(".") - 1, winbar = vim.wo.winbar }
  chain.row, chain.height, chain.width = vim.fn.winline(), vim.fn.winheight(0), vim.fn.winwidth(0)
  for _, other in ipairs(vim.api.nvim_list_wins()) do
    local config = vim.api.nvim_win_get_config(other)
    if config.relative ~= "" then
      local note = vim.api.nvim_win_get_buf(other)
      chain.float = { anchor = config.anchor, width = config.width, height = config.height }
      chain.waits = vim.api.nvim_buf_get_lines(note, 0, -1, false)
    end
  end
  wait("the names at the left edge", function()
    local space = vim.api.nvim_get_namespaces()["cyclelens.timeline.names"]
    local marks = vim.api.nvim_buf_get_extmarks(0, space, 0, -1, { details = true })
    chain.leftcol, chain.names = vim.fn.winsaveview().leftcol, vim.tbl_map(function(mark)
      return { mark[4].virt_text_win_col, vim.trim(mark[4].virt_text[1][1]) }
    end, marks)
    return #chain.names > 0
  end)
  seen.chain = chain
  vim.cmd("close")

  vim.cmd("checkhealth cyclelens")
  seen.health = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n")
  vim.cmd("help cyclelens-commands")
  seen.help = vim.fn.expand("%:t")
  finish()
end

vim.schedule(function()
  local ok, message = xpcall(run, debug.traceback)
  if not ok then
    seen.trouble = message
    finish()
  end
end)
