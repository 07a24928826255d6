--- A kernel beside another version of it, in a tab of its own.
local M = {}

--- Show a text beside the buffer's; q closes the tab.
---@param origin integer the buffer with the kernel
---@param name string
---@param lines string[]
---@param side "leftabove"|"rightbelow" where it stands
---@return integer buffer of the text
function M.show(origin, name, lines, side)
  vim.cmd("tab sbuffer " .. origin)
  vim.cmd("diffthis")
  -- On both sides, so that the lines stand beside each other.
  vim.wo.winbar = "as it is"
  vim.cmd(side .. " vnew")
  local buffer = vim.api.nvim_get_current_buf()
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  vim.bo[buffer].buftype = "nofile"
  vim.bo[buffer].bufhidden = "wipe"
  vim.bo[buffer].modifiable = false
  vim.api.nvim_buf_set_name(buffer, "cyclelens://" .. name)
  vim.cmd("diffthis")
  vim.wo.winbar = name:gsub("%%", "%%%%") .. "%<"
  vim.keymap.set("n", "q", M.close, { buffer = buffer, desc = "Close" })
  return buffer
end

--- Close the tab that is shown.
function M.close()
  vim.cmd("diffoff! | tabclose")
end

return M
