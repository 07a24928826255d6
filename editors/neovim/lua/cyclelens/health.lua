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

---@return string program
local function program()
  local config = vim.lsp.config and vim.lsp.config.cyclelens
  local cmd = config and config.cmd
  return type(cmd) == "table" and cmd[1] or "cyclelens"
end

function M.check()
  health.start("Cyclelens")
  if vim.fn.has("nvim-0.10") == 1 then
    health.ok("Neovim shows hints inside the text")
  else
    health.error("Neovim 0.10 or newer is needed", "Hints inside the text came with 0.10.")
  end
  local version, trouble = output({ program(), "--version" })
  if version and version:find("uncompiled", 1, true) then
    health.warn(version, "Install it again where there is a C compiler, or from a wheel.")
  elseif version then
    health.ok(version)
  else
    health.error(trouble or "the server cannot be started", {
      "Install it: pip install cyclelens",
      "Or name it: vim.lsp.config('cyclelens', { cmd = { '/path/to/cyclelens', 'lsp' } })",
    })
  end
  if vim.lsp.is_enabled and not vim.lsp.is_enabled("cyclelens") then
    health.warn("the server is not enabled", "Put vim.lsp.enable('cyclelens') into your init.lua.")
  end
  local clients = vim.lsp.get_clients({ name = "cyclelens" })
  if #clients > 0 then
    health.ok(("%d server running"):format(#clients))
  else
    health.info("no server is running: it starts with the first assembly file")
  end
end

return M
