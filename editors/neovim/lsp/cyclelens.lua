-- Cyclelens for Neovim 0.11 and newer. With this folder's parent in 'runtimepath':
--
--   require("cyclelens").setup()
--
-- which shows hints and lenses, too; vim.lsp.enable("cyclelens") is enough for the rest.

---@type vim.lsp.Config
return {
  cmd = { "cyclelens", "lsp" },
  capabilities = { experimental = { cyclelens = { panels = true, previews = true } } },
  filetypes = { "asm", "nasm", "masm", "vmasm" },
  -- Any folder will do: a single file is a fine project.
  root_markers = { "cyclelens.toml", ".git" },
  before_init = function(_, config)
    local hints = { hints = { tabSize = vim.o.tabstop <= 16 and vim.o.tabstop or nil } }
    config.settings = vim.tbl_deep_extend("keep", config.settings or {}, { cyclelens = hints })
  end,
  on_exit = function(code, signal, id)
    require("cyclelens.setup").exited(code, signal, id)
  end,
  settings = {
    cyclelens = {
      -- docs/server.md lists the settings; these are the defaults that people change first.
      microarchitectures = { "native" },
      syntax = "auto",
    },
  },
}
