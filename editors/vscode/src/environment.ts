// Finds the server, or installs the one that ships with the extension into an environment.
import { execFile, spawn } from "node:child_process";
import { accessSync, constants, readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import * as os from "node:os";
import * as path from "node:path";
import { promisify } from "node:util";
import * as vscode from "vscode";

const run = promisify(execFile);
const windows = process.platform === "win32";
const program = windows ? "cyclelens.exe" : "cyclelens";

export interface Server {
  command: string;
  version: string;
  /** Whether its simulator runs as plain Python, slowly. */
  uncompiled: boolean;
  /** Whether it is in the environment that the extension created. */
  own: boolean;
}

/** A problem that users can solve; the message is for them. */
export class Problem extends Error {}

function ownEnvironment(context: vscode.ExtensionContext): string {
  return path.join(context.globalStorageUri.fsPath, "environment");
}

function inEnvironment(environment: string, name: string): string {
  return path.join(environment, windows ? "Scripts" : "bin", name);
}

function runnable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The file of a program on PATH; never one in the opened folder, where Windows would look first. */
function onPath(name: string): string | undefined {
  const folders = (process.env.PATH ?? "").split(path.delimiter).filter(path.isAbsolute);
  return folders.map((folder) => path.join(folder, name)).find(runnable);
}

function configured(): string {
  const text = vscode.workspace.getConfiguration("cyclelens").get<string>("server.path", "").trim();
  return text.startsWith("~/") ? path.join(os.homedir(), text.slice(2)) : text;
}

/** The server of the settings, or the extension's own, or the one on PATH. Throws a Problem if none starts. */
export async function findServer(
  context: vscode.ExtensionContext,
  log: vscode.LogOutputChannel,
): Promise<Server> {
  const wanted = configured();
  const own = inEnvironment(ownEnvironment(context), program);
  const candidates = wanted ? [wanted] : [own, onPath(program)].filter((file) => file && runnable(file));
  let reason = "";
  for (const command of candidates as string[]) {
    try {
      const { stdout } = await run(command, ["--version"], { timeout: 30_000 });
      const [, version, note] = /^(\S+ \S+)(.*)/.exec(stdout.trim()) ?? ["", stdout.trim(), ""];
      return { command, version, uncompiled: note.includes("uncompiled"), own: command === own };
    } catch (error) {
      reason = (error as { stderr?: string }).stderr?.trim().split("\n").at(-1) || String((error as Error).message);
      log.error(`${command} does not start: ${reason}`);
    }
  }
  if (wanted) {
    throw new Problem(`The program ${wanted} of the setting cyclelens.server.path does not start: ${reason}`);
  }
  if (reason) {
    throw new Problem(`The server is installed but does not start: ${reason}`);
  }
  throw new NotInstalled("Figures need the server, which is not installed yet. Installing it takes about a minute and 135 MB, and no network.");
}

/** No server is installed yet, which is not an error. */
export class NotInstalled extends Problem {}

/** A Python that is new enough, or a Problem. */
async function findPython(): Promise<string> {
  const names = ["python3", "python", "python3.14", "python3.13", "python3.12", "python3.11"];
  let found = "";
  for (const name of names) {
    const python = onPath(windows ? `${name}.exe` : name);
    if (!python) {
      continue;
    }
    try {
      const question = "import sys; print(*sys.version_info[:2], sep='.'); sys.exit(sys.version_info < (3, 11))";
      await run(python, ["-I", "-c", question]);
      return python;
    } catch (error) {
      found ||= (error as { stdout?: string }).stdout?.trim() ?? "";
    }
  }
  throw new Problem(
    `The server needs Python 3.11 or newer; ${found ? `only ${found} was found` : "none was found"} on PATH.`,
  );
}

/** Run a step and log each line of its output. Rejects with the last line of its standard error. */
function step(
  log: vscode.LogOutputChannel,
  token: vscode.CancellationToken,
  command: string,
  args: string[],
): Promise<void> {
  log.info(`${command} ${args.join(" ")}`);
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: os.homedir(), stdio: ["ignore", "pipe", "pipe"] });
    const cancel = token.onCancellationRequested(() => child.kill());
    let last = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        for (const line of text.split(/\r?\n/).filter(Boolean)) {
          log.info(line);
          last = /error|not/i.test(line) || !last ? line : last;
        }
      });
    }
    child.on("error", reject);
    child.on("close", (code) => {
      cancel.dispose();
      if (token.isCancellationRequested) {
        reject(new vscode.CancellationError());
      } else if (code) {
        reject(new Problem(last.trim() || `${path.basename(command)} ended with code ${code}`));
      } else {
        resolve();
      }
    });
  });
}

/** Create an environment with the server in it. Throws a Problem, or a CancellationError. */
export async function createEnvironment(
  context: vscode.ExtensionContext,
  log: vscode.LogOutputChannel,
): Promise<void> {
  const environment = ownEnvironment(context);
  const folder = vscode.Uri.joinPath(context.extensionUri, "server").fsPath;
  if (!readdirSync(folder).some((name) => /^cyclelens-.*\.(whl|tar\.gz)$/.test(name))) {
    throw new Problem("This build of the extension does not contain the server.");
  }
  // The server must match this extension, so a newer one from elsewhere is never installed.
  const server = `cyclelens==${(context.extension.packageJSON as { version: string }).version}`;
  await vscode.workspace.fs.createDirectory(context.globalStorageUri);
  const title = "Cyclelens: installing the server";
  const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
  await vscode.window.withProgress(options, async (progress, token) => {
    const python = await findPython();
    try {
      progress.report({ message: "making a Python environment" });
      await step(log, token, python, ["-I", "-m", "venv", "--clear", environment]);
      const own = inEnvironment(environment, windows ? "python.exe" : "python");
      const pip = ["-I", "-m", "pip", "install", "--disable-pip-version-check"];
      try {
        progress.report({ message: "installing its packages" });
        await step(log, token, own, [...pip, "--no-index", "--find-links", folder, server]);
      } catch (error) {
        if (error instanceof vscode.CancellationError) {
          throw error;
        }
        log.info("the packages that came along do not fit this Python or machine; they are got from the network");
        progress.report({ message: "getting its packages; this takes a minute or two" });
        await step(log, token, own, [...pip, "--find-links", folder, server]);
      }
    } catch (error) {
      // An incomplete environment must not pass for a server later.
      await rm(environment, { recursive: true, force: true });
      if (error instanceof Problem && /ensurepip/.test(error.message)) {
        throw new Problem("Python cannot create virtual environments here. On Debian and Ubuntu, run: apt install python3-venv");
      }
      throw error;
    }
  });
}
