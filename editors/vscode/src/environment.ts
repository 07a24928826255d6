// Finds the server, or makes an environment with it.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import * as path from "node:path";
import { promisify } from "node:util";
import * as vscode from "vscode";

const run = promisify(execFile);
const windows = process.platform === "win32";
const program = windows ? "cyclelens.exe" : "cyclelens";

export interface Server {
  command: string;
  version: string;
}

/** The environment that the extension makes; it lives with the extension's own data. */
function ownEnvironment(context: vscode.ExtensionContext): string {
  return path.join(context.globalStorageUri.fsPath, "environment");
}

function inEnvironment(environment: string, name: string): string {
  return path.join(environment, windows ? "Scripts" : "bin", name);
}

/** The first server that starts: the one in the settings, the extension's own, the one on PATH. */
export async function findServer(context: vscode.ExtensionContext): Promise<Server | undefined> {
  const configured = vscode.workspace.getConfiguration("cyclelens").get<string>("server.path", "").trim();
  const own = inEnvironment(ownEnvironment(context), program);
  const candidates = configured ? [configured] : [...(existsSync(own) ? [own] : []), program];
  for (const command of candidates) {
    try {
      const { stdout } = await run(command, ["--version"], { timeout: 20_000 });
      return { command, version: stdout.trim() };
    } catch {
      // The next one may work; what to do if none does is told in one place.
    }
  }
  return undefined;
}

/** Make an environment with the server in it. Rejects with what went wrong, for people. */
export async function createEnvironment(
  context: vscode.ExtensionContext,
  log: vscode.LogOutputChannel,
): Promise<void> {
  const environment = ownEnvironment(context);
  await vscode.workspace.fs.createDirectory(context.globalStorageUri);
  const options = { location: vscode.ProgressLocation.Notification, title: "Cyclelens: installing the server" };
  await vscode.window.withProgress(options, async () => {
    const python = windows ? "python" : "python3";
    const { stdout } = await run(python, ["-c", "import sys; print(sys.version_info >= (3, 11))"]);
    if (stdout.trim() !== "True") {
      throw new Error(`${python} is older than 3.11.`);
    }
    log.info(`making ${environment}`);
    await run(python, ["-m", "venv", "--clear", environment]);
    const result = await run(inEnvironment(environment, windows ? "python.exe" : "python"), [
      ...["-m", "pip", "install", "--disable-pip-version-check", "cyclelens"],
    ]);
    log.info(result.stdout);
  });
}
