--- :checkhealth cyclelens
local M = {}

local health = vim.health

---@param command string[]
---@return string? output, string? trouble
local function output(command)
  if vim.fn.executable(command[1]) == 0 then
    return nil, ("'%s' is not on PATH"):format(command[1])
  end
  local result = vim.system(command, { text = true }):wait(20000)
  if result.code ~= 0 then
    return nil, ("'%s' failed: %s"):format(table.concat(command, " "), vim.trim(result.stderr or ""))
  end
  return vim.trim(result.stdout or "")
end

function M.check()
  health.start("Cyclelens")
  if vim.fn.has("nvim-0.10") == 1 then
    health.ok("Neovim shows hints inside the text")
  else
    health.error("Neovim 0.10 or newer is needed", "Hints inside the text came with 0.10.")
  end
  local version, trouble = output({ require("cyclelens.setup").program(), "--version" })
  if version and version:find("uncompiled", 1, true) then
    health.warn(version, "Install it again where there is a C compiler, or from a wheel.")
  elseif version then
    health.ok(version)
  else
    health.error(trouble or "the server cannot be started", {
      "Install it: pip install . in the project's folder",
      "Or name it: require('cyclelens').setup({ cmd = { '/path/to/cyclelens', 'lsp' } })",
    })
  end
  if vim.lsp.is_enabled and not vim.lsp.is_enabled("cyclelens") then
    health.warn("the server is not enabled", "Put require('cyclelens').setup() into your init.lua.")
  end
  local clients = vim.lsp.get_clients({ name = "cyclelens" })
  if #clients > 0 then
    health.ok(("%d server running"):format(#clients))
  else
    health.info("no server is running: it starts with the first assembly file; :CyclelensRestart starts it again")
  end
end

return M
