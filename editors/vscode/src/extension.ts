// The extension: starts the server, shows its answers, and says in one place what is wrong.
import * as vscode from "vscode";
import {
  ExecuteCommandSignature,
  LanguageClient,
  LanguageClientOptions,
  ServerOptions,
  State,
} from "vscode-languageclient/node";
import { createEnvironment, findServer } from "./environment";
import * as trust from "./trust";
import { showTable, Table } from "./panel";
import { Report, showReport } from "./report";

/** Every identifier in use for assembly, and the files that have none. */
const LANGUAGES = ["asm", "gas", "nasm", "asm-intel-x86-generic", "asm-collection", "x86", "masm"];
const SELECTOR = [
  ...LANGUAGES.map((language) => ({ scheme: "file", language })),
  { scheme: "file", pattern: "**/*.{s,S,asm}" },
];

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const log = vscode.window.createOutputChannel("Cyclelens", { log: true });
  const status = vscode.languages.createLanguageStatusItem("cyclelens", SELECTOR);
  status.name = "Cyclelens";
  status.command = { title: "Change CPU", command: "cyclelens.chooseMicroarchitecture" };
  context.subscriptions.push(log, status);

  const execute = async (command: string, args: unknown[], next: ExecuteCommandSignature) => {
    const answer = (await next(command, args)) as (Table & Partial<Report>) | string | null;
    if (typeof answer === "string") {
      vscode.window.setStatusBarMessage(answer, 5000);
    } else if (answer?.html) {
      showReport(context, args[0] as string, { title: answer.title, html: answer.html });
    } else if (answer) {
      showTable(context, answer);
    }
    return answer;
  };

  const trouble = async (message: string) => {
    status.severity = vscode.LanguageStatusSeverity.Error;
    status.text = "Cyclelens is not running";
    status.detail = message;
    log.error(message);
    const install = "Install the server";
    const choice = await vscode.window.showErrorMessage(`Cyclelens: ${message}`, install, "Settings", "Log");
    if (choice === install) {
      await vscode.commands.executeCommand("cyclelens.installServer");
    } else if (choice === "Settings") {
      await vscode.commands.executeCommand("workbench.action.openSettings", "cyclelens.server.path");
    } else if (choice === "Log") {
      log.show();
    }
  };

  const start = async () => {
    await client?.dispose();
    client = undefined;
    status.severity = vscode.LanguageStatusSeverity.Information;
    status.text = "Cyclelens is starting";
    status.detail = undefined;
    const server = await findServer(context);
    if (!server) {
      void trouble("no server was found. It needs Python 3.11 or newer and the package cyclelens.");
      return;
    }
    log.info(`${server.version}: ${server.command}`);
    const serverOptions: ServerOptions = { command: server.command, args: ["lsp"] };
    const options: LanguageClientOptions = {
      documentSelector: SELECTOR,
      outputChannel: log,
      initializationOptions: trust.initializationOptions(),
      middleware: { executeCommand: execute, workspace: trust.configuration },
    };
    client = new LanguageClient("cyclelens", "Cyclelens", serverOptions, options);
    client.registerFeature({
      fillClientCapabilities: (capabilities) => {
        capabilities.experimental = { ...(capabilities.experimental as object), cyclelens: { panels: true, html: true } };
      },
      initialize: () => undefined,
      getState: () => ({ kind: "static" }),
      clear: () => undefined,
    });
    client.onDidChangeState((change) => {
      if (change.newState === State.Running) {
        describe();
      } else if (change.newState === State.Stopped) {
        status.text = "Cyclelens has stopped";
      }
    });
    try {
      await client.start();
    } catch (error) {
      void trouble(error instanceof Error ? error.message : String(error));
    }
  };

  const describe = () => {
    const names = vscode.workspace.getConfiguration("cyclelens").get<string[]>("microarchitectures", ["SKL"]);
    status.text = `Cyclelens: ${names.join(", ")}`;
    status.detail = "microarchitectures";
  };

  const command = (name: string, action: () => unknown) =>
    context.subscriptions.push(vscode.commands.registerCommand(name, action));
  const here = () => vscode.window.activeTextEditor?.document.uri.toString();
  command("cyclelens.restart", start);
  command("cyclelens.showLog", () => log.show());
  command("cyclelens.installServer", async () => {
    try {
      await createEnvironment(context, log);
      await start();
    } catch (error) {
      void trouble(`the server could not be installed: ${error instanceof Error ? error.message : error}`);
    }
  });
  command("cyclelens.chooseMicroarchitecture", async () => {
    const configuration = vscode.workspace.getConfiguration("cyclelens");
    // package.json lists the names; it is made from the server's own list.
    const properties = context.extension.packageJSON.contributes.configuration.properties;
    const known: string[] = properties["cyclelens.microarchitectures"].items.enum;
    const chosen = await vscode.window.showQuickPick(known, { title: "Analyse for", canPickMany: true });
    if (chosen?.length) {
      await configuration.update("microarchitectures", chosen, vscode.ConfigurationTarget.Global);
    }
  });
  command("cyclelens.pin", () => vscode.commands.executeCommand("cyclelens.pinBaseline", here()));
  command("cyclelens.unpin", () => vscode.commands.executeCommand("cyclelens.unpinBaseline", here()));
  command("cyclelens.analyseNow", () => vscode.commands.executeCommand("cyclelens.analyse", here()));
  context.subscriptions.push(
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("cyclelens.server")) {
        void start();
      } else if (change.affectsConfiguration("cyclelens")) {
        describe();
      }
    }),
  );
  // The server asks for the settings again, and is told.
  const trusted = () => client?.sendNotification("workspace/didChangeConfiguration", { settings: null });
  context.subscriptions.push(vscode.workspace.onDidGrantWorkspaceTrust(() => void trusted()));
  await start();
}

export async function deactivate(): Promise<void> {
  await client?.dispose();
}
