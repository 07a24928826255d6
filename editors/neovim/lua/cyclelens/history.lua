--- The figures of a region since HEAD and since its file was opened; choosing one opens its difference to the present.
local difference = require("cyclelens.difference")

local M = {}

---@param origin integer the buffer with the kernel
---@param answer table title, rows, figures, versions, firstLine, lastLine
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
      local label, _, change = unpack(answer.rows[number])
      return ("%s  %s%s"):format(answer.figures[number], label, change ~= "" and ("  now " .. change) or "")
    end,
  }, function(number)
    if number then
      local lines = vim.api.nvim_buf_get_lines(origin, 0, -1, false)
      local old = vim.list_slice(lines, 1, answer.firstLine)
      vim.list_extend(old, vim.split(answer.versions[number], "\n"))
      vim.list_extend(old, lines, answer.lastLine + 2)
      difference.show(origin, ("%s: %s"):format(answer.title, answer.rows[number][1]), old, "leftabove")
    end
  end)
end

return M
