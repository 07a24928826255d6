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
    require("cyclelens.setup").complete(config.settings)
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
