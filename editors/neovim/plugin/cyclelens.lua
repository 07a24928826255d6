-- Defines the commands; everything else is loaded on first use.
if vim.g.loaded_cyclelens then
  return
end
vim.g.loaded_cyclelens = true

local function cyclelens()
  return require("cyclelens")
end

local here = {
  Timeline = "timeline",
  Instructions = "instructions",
  Compare = "compare",
  Alignment = "alignment",
  CompareHead = "compareHead",
  WhatIf = "whatif",
  Measure = "measure",
  Check = "checkRewrites",
  History = "history",
}
local descriptions = {
  Timeline = "Iterations of the region in its steady state, cycle by cycle",
  Instructions = "What each instruction of the region costs, and why",
  Compare = "The region on every microarchitecture",
  Alignment = "The region at every offset within a 64-byte line",
  CompareHead = "Compare the region with the committed version of the file",
  WhatIf = "Changes that would make the region faster",
  Measure = "Measure the region on this machine",
  Check = "Check that the rewrites of the region give the same results",
  History = "The figures of the region since HEAD and since the file was opened",
}
for name, command in pairs(here) do
  vim.api.nvim_create_user_command("Cyclelens" .. name, function()
    cyclelens().run_here(cyclelens().commands[command])
  end, { desc = descriptions[name] })
  -- What a lens runs: the arguments are the document and the region.
  vim.lsp.commands["cyclelens." .. command] = function(lens)
    cyclelens().run(vim.uri_to_bufnr(lens.arguments[1]), lens.command, lens.arguments[2])
  end
end

vim.lsp.commands["cyclelens.previewRewrite"] = function(action, context)
  require("cyclelens.preview").show(assert(vim.lsp.get_client_by_id(context.client_id)), action.arguments)
end

vim.api.nvim_create_user_command("CyclelensCompareWith", function(command)
  cyclelens().run_here(cyclelens().commands.compareRegions, command.args)
end, {
  desc = "Compare the region with another one",
  nargs = 1,
  complete = function(start)
    return vim.tbl_filter(function(name)
      return vim.startswith(name, start)
    end, cyclelens().regions())
  end,
})
vim.api.nvim_create_user_command("CyclelensFollow", function(command)
  cyclelens().follow(command.args)
end, {
  desc = "A window about the region at the cursor that follows the text",
  nargs = "?",
  complete = function(start)
    return vim.tbl_filter(function(name)
      return vim.startswith(name, start)
    end, cyclelens().followed)
  end,
})
vim.api.nvim_create_user_command("CyclelensCancel", function()
  cyclelens().cancel()
end, { desc = "Cancel pending commands" })

vim.api.nvim_create_user_command("CyclelensCpu", function(command)
  cyclelens().choose(command.args)
end, {
  desc = "Show the figures of another microarchitecture",
  nargs = 1,
  complete = function(start)
    return vim.tbl_filter(function(name)
      return vim.startswith(name:lower(), start:lower())
    end, require("cyclelens.setup").cpus)
  end,
})
vim.api.nvim_create_user_command("CyclelensRestart", function()
  require("cyclelens.setup").restart()
end, { desc = "Start the server again" })
vim.api.nvim_create_autocmd("FileType", {
  group = vim.api.nvim_create_augroup("cyclelens.program", { clear = true }),
  pattern = { "asm", "nasm", "masm", "vmasm" },
  callback = function()
    require("cyclelens.setup").check_program()
  end,
})
vim.api.nvim_create_user_command("CyclelensMark", function(command)
  local given = command.range > 0
  cyclelens().mark(given and command.line1 or nil, given and command.line2 or nil, command.args)
end, { desc = "Mark the loop at the cursor, or the lines, as a region", range = true, nargs = "?" })
vim.api.nvim_create_user_command("CyclelensLoops", function()
  cyclelens().loops()
end, { desc = "List the loops of the file with their figures" })

local whole = {
  Pin = { "cyclelens.pinBaseline", "Compare with the present figures from now on" },
  Unpin = { "cyclelens.unpinBaseline", "Compare with the last save again" },
  Analyse = { "cyclelens.analyse", "Analyse now" },
}
for name, command in pairs(whole) do
  vim.api.nvim_create_user_command("Cyclelens" .. name, function()
    cyclelens().run_on_document(command[1])
  end, { desc = command[2] })
end
