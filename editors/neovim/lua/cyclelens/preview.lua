--- Shows a rewrite of a loop as a diff beside the text, and applies it after the user's review.
local difference = require("cyclelens.difference")

local M = {}

---@param client vim.lsp.Client
---@param arguments table of the server's command: URI, version, edits, title, details
function M.show(client, arguments)
  local uri, version, edits, title, details = unpack(arguments)
  local origin = vim.uri_to_bufnr(uri)
  local function changed()
    local now = vim.lsp.util.buf_versions[origin]
    if now ~= version then
      vim.notify("Cyclelens: the text has changed; ask for the rewrite again", vim.log.levels.WARN)
    end
    return now ~= version
  end
  if changed() then
    return
  end
  local lines = vim.api.nvim_buf_get_lines(origin, 0, -1, false)
  local scratch = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(scratch, 0, -1, false, lines)
  vim.lsp.util.apply_text_edits(edits, scratch, client.offset_encoding)
  local rewritten = vim.api.nvim_buf_get_lines(scratch, 0, -1, false)
  vim.api.nvim_buf_delete(scratch, { force = true })

  local buffer = difference.show(origin, title, rewritten, "rightbelow")
  vim.bo[buffer].filetype = vim.bo[origin].filetype
  vim.wo.winbar = "<CR> makes it, q discards it: " .. title:gsub("%%", "%%%%") .. "%<"
  vim.keymap.set("n", "<CR>", function()
    difference.close()
    if not changed() then
      vim.lsp.util.apply_text_edits(edits, origin, client.offset_encoding)
    end
  end, { buffer = buffer, desc = "Apply the rewrite" })
  -- A message of more than one line would ask for a key first. The next move closes the window; that of opening the
  -- difference is over when it opens.
  vim.defer_fn(function()
    if vim.api.nvim_get_current_buf() == buffer then
      local look = { border = "rounded", focusable = false }
      local _, window = vim.lsp.util.open_floating_preview({ details }, "plaintext", look)
      vim.wo[window].linebreak = true
    end
  end, 50)
end

return M
