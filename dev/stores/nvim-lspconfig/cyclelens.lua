---@brief
---
--- @REPOSITORY@
---
--- @SUMMARY@.
--- Figures are for x86-64; the server is installed by `pip install cyclelens`.

---@type vim.lsp.Config
return {
  cmd = { 'cyclelens', 'lsp' },
  filetypes = { 'asm', 'nasm', 'masm', 'vmasm' },
  root_markers = { 'cyclelens.toml', '.git' },
  settings = {
    cyclelens = {},
  },
}
