--- The figures of a region since HEAD and since its file was opened; choosing one opens its difference to the present.
local M = {}

--- Show two texts beside each other in a tab of their own; q closes it.
---@param origin integer the buffer with the kernel
---@param name string
---@param lines string[]
local function difference(origin, name, lines)
  vim.cmd("tab sbuffer " .. origin)
  vim.cmd("diffthis")
  vim.cmd("leftabove vnew")
  local buffer = vim.api.nvim_get_current_buf()
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  vim.bo[buffer].buftype = "nofile"
  vim.bo[buffer].bufhidden = "wipe"
  vim.bo[buffer].modifiable = false
  vim.api.nvim_buf_set_name(buffer, "cyclelens://" .. name)
  vim.cmd("diffthis")
  vim.keymap.set("n", "q", function()
    vim.cmd("diffoff! | tabclose")
  end, { buffer = buffer, desc = "Close" })
end

---@param origin integer the buffer with the kernel
---@param answer table title, rows, versions, firstLine, lastLine
function M.show(origin, answer)
  if #answer.versions == 0 then
    return vim.notify("Cyclelens: there is no figure yet")
  end
  local numbers = {}
  for number = #answer.versions, 1, -1 do
    numbers[#numbers + 1] = number
  end
  vim.ui.select(numbers, {
    prompt = answer.title,
    format_item = function(number)
      local label, cycles, change = unpack(answer.rows[number])
      return ("%.2f  %s%s"):format(cycles, label, change ~= "" and ("  the present one is " .. change) or "")
    end,
  }, function(number)
    if number then
      local lines = vim.api.nvim_buf_get_lines(origin, 0, -1, false)
      local old = vim.list_slice(lines, 1, answer.firstLine)
      vim.list_extend(old, vim.split(answer.versions[number], "\n"))
      vim.list_extend(old, lines, answer.lastLine + 2)
      difference(origin, ("%s: %s"):format(answer.title, answer.rows[number][1]), old)
    end
  end)
end

return M
