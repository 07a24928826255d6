-- Cyclelens for Neovim 0.11 and newer. With this folder's parent in 'runtimepath':
--
--   vim.lsp.enable("cyclelens")
--
-- Hints inside the text need one more line, as with every language server:
--
--   vim.api.nvim_create_autocmd("LspAttach", {
--     callback = function(event) vim.lsp.inlay_hint.enable(true, { bufnr = event.buf }) end,
--   })

---@type vim.lsp.Config
return {
  cmd = { "cyclelens", "lsp" },
  capabilities = { experimental = { cyclelens = { panels = true } } },
  filetypes = { "asm", "nasm", "masm", "vmasm" },
  -- Any folder will do: a single file is a fine project.
  root_markers = { ".git" },
  settings = {
    cyclelens = {
      -- docs/server.md lists the settings; these are the defaults that people change first.
      microarchitectures = { "SKL" },
      syntax = "auto",
    },
  },
}
