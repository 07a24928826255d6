// The extension: starts the server, shows its answers, and reports problems in one place.
import * as vscode from "vscode";
import {
  CloseAction,
  ErrorAction,
  ExecuteCommandSignature,
  LanguageClient,
  LanguageClientOptions,
  RevealOutputChannelOn,
  ServerOptions,
} from "vscode-languageclient/node";
import { createEnvironment, findServer, NotInstalled, Server } from "./environment";
import { Hints } from "./hints";
import { showTable, Table } from "./panel";
import { History, registerHistory, showHistory } from "./history";
import { showLoops } from "./loops";
import { Answer, Live, tabOf } from "./live";
import { mark } from "./mark";
import { decide, registerPreview } from "./preview";
import { Answer as Regions, NO_REGION, regionAt, Status } from "./status";
import * as configured from "./configuration";

/** Every language identifier in use for assembly, and the files without one. */
const LANGUAGES = ["asm", "gas", "nasm", "asm-intel-x86-generic", "asm-collection", "x86", "masm"];
const PATTERN = "**/*.{s,S,asm,nasm}";
/** Sources that compilers translate; the server takes the commands from compile_commands.json and Cargo. */
const SOURCES = ["c", "cpp", "rust"].map((language) => ({ scheme: "file", language }));
const ASSEMBLY = [
  ...["file", "untitled"].flatMap((scheme) => LANGUAGES.map((language) => ({ scheme, language }))),
  { scheme: "file", pattern: PATTERN },
];
const SELECTOR = [...ASSEMBLY, ...SOURCES];

/** A server that ends by itself this often within three minutes is not started again. */
const MAX_CRASHES = 4;

/** Milliseconds that a command waits for the first analysis. */
const FIRST_ANALYSIS = 10_000;

let client: LanguageClient | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("Cyclelens", { log: true });
  const known = async (document: vscode.TextDocument) => {
    const params = { textDocument: { uri: document.uri.toString() } };
    return client?.sendRequest<Regions | null>("cyclelens/regions", params).catch(() => null);
  };
  const regions = async (document: vscode.TextDocument) => (await known(document))?.regions;
  /** For commands: of a document that was just opened, after its first analysis. */
  const regionsSoon = async (document: vscode.TextDocument) => {
    await last;
    const limit = Date.now() + FIRST_ANALYSIS;
    let answer = await known(document);
    while (answer && !answer.upToDate && !answer.regions.length && Date.now() < limit) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      answer = await known(document);
    }
    return answer?.regions;
  };
  const status = new Status(SELECTOR, known);
  const told = (error: unknown) => (error instanceof Error ? error.message : String(error));
  const ask = async (command: string, args: unknown[]) =>
    client
      ?.sendRequest<Answer>("workspace/executeCommand", { command, arguments: args })
      .catch((error) => (log.warn(told(error)), null)) ?? null;
  /** The tooltip of a line's hint, asked for anew: one that was drawn may be of an older text. */
  const explained = async (document: vscode.TextDocument, line: number) => {
    const { start, end } = document.lineAt(line).range;
    const params = { textDocument: { uri: document.uri.toString() }, range: { start, end } };
    const [hint] = (await client?.sendRequest<{ tooltip?: string }[]>("textDocument/inlayHint", params)) ?? [];
    const answer = hint && (await client?.sendRequest<{ tooltip?: string }>("inlayHint/resolve", hint));
    // `appendText` would make all spaces unbreakable.
    return answer?.tooltip?.replace(/[\\`*_{}[\]()<>#+\-.!|~]/g, "\\$&");
  };
  const live = new Live(context, ask, regions);
  const hints = new Hints(ASSEMBLY);
  context.subscriptions.push(log, status, live, hints, registerHistory(), registerPreview());

  /** Reports what keeps the server from running; nothing else does. */
  let explanation = "";
  const trouble = async (message: string, news = false) => {
    explanation = message;
    log[news ? "info" : "error"](message);
    status.trouble(message, news);
    const install = "Install the Server";
    const show = news ? vscode.window.showInformationMessage : vscode.window.showErrorMessage;
    const choice = await show(`Cyclelens: ${message}`, install, ...(news ? [] : ["Settings", "Log"]));
    if (choice === install) {
      await vscode.commands.executeCommand("cyclelens.installServer");
    } else if (choice === "Settings") {
      await vscode.commands.executeCommand("workbench.action.openSettings", "cyclelens.server.path");
    } else if (choice === "Log") {
      log.show();
    }
  };

  const stop = async () => {
    const running = client;
    client = undefined;
    hints.clear();
    await running?.dispose().catch((error) => log.warn(told(error)));
  };

  const connect = async (server: Server) => {
    const serverOptions: ServerOptions = { command: server.command, args: ["lsp"] };
    const crashes: number[] = [];
    const options: LanguageClientOptions = {
      documentSelector: SELECTOR,
      outputChannel: log,
      // Protocol errors go to the log; this file tells users what they should know.
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      initializationOptions: configured.initializationOptions(),
      initializationFailedHandler: () => false,
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => {
          crashes.push(Date.now());
          const recent = crashes.filter((at) => Date.now() - at < 3 * 60_000);
          if (recent.length < MAX_CRASHES) {
            return { action: CloseAction.Restart, handled: true };
          }
          void trouble(`The server ended ${recent.length} times within three minutes; see the log.`);
          return { action: CloseAction.DoNotRestart, handled: true };
        },
      },
      middleware: {
        executeCommand: execute,
        workspace: configured.configuration,
        // Both come with every new result.
        handleDiagnostics: (uri, diagnostics, next) => {
          next(uri, diagnostics);
          status.refresh();
        },
        provideInlayHints: (document, range, token, next) => {
          status.refresh();
          live.resultsArrived(document.uri.toString());
          return hints.provide(document, range, token, next);
        },
        // Behind the end of a line the pointer is on its hint.
        provideHover: async (document, position, token, next) => {
          const about = hints.at(document, position) && (await explained(document, position.line).catch(() => ""));
          return about ? new vscode.Hover(new vscode.MarkdownString(about)) : next(document, position, token);
        },
      },
    };
    client = new LanguageClient("cyclelens", "Cyclelens", serverOptions, options);
    client.registerFeature({
      fillClientCapabilities: (capabilities) => {
        capabilities.experimental = { ...(capabilities.experimental as object), cyclelens: { panels: true, html: true, previews: true, hoverDiagnostics: true } };
      },
      initialize: () => undefined,
      getState: () => ({ kind: "static" }),
      clear: () => undefined,
    });
    await client.start();
  };

  let started = false;
  const start = async () => {
    started = true;
    await stop();
    status.busy("Cyclelens");
    try {
      const server = await findServer(context, log);
      log.info(`${server.version}: ${server.command}`);
      await connect(server);
      status.running(server.uncompiled);
      void vscode.commands.executeCommand("setContext", "cyclelens.running", true);
      const expected = `cyclelens ${context.extension.packageJSON.version}`;
      if (server.version !== expected) {
        log.warn(`the extension was made for ${expected}`);
        if (server.own) {
          void offerUpdate(server.version);
        }
      }
    } catch (error) {
      void trouble(told(error), error instanceof NotInstalled);
    }
  };
  const offerUpdate = async (version: string) => {
    const update = "Update";
    const message = `Cyclelens: the installed server, ${version}, does not match this extension.`;
    if ((await vscode.window.showInformationMessage(message, update)) === update) {
      await vscode.commands.executeCommand("cyclelens.installServer");
    }
  };

  /** Serialises starts, stops and installations. */
  let last: Promise<void> = Promise.resolve();
  const inTurn = (action: () => Promise<void>) => (last = last.then(action));

  const install = async () => {
    await stop();
    status.busy("Cyclelens: installing");
    try {
      await createEnvironment(context, log);
    } catch (error) {
      if (error instanceof vscode.CancellationError) {
        void trouble("The installation was cancelled.");
      } else {
        void trouble(`The server could not be installed. ${told(error)}`);
      }
      return;
    }
    await start();
  };

  // Shows the answers of the server's commands: tables in panels, sentences in the status bar.
  const execute = async (command: string, args: unknown[], next: ExecuteCommandSignature) => {
    let answer: (Table & Partial<History>) | string | null;
    try {
      answer = await next(command, args);
    } catch (error) {
      void vscode.window.showErrorMessage(`Cyclelens: ${told(error)}`);
      return null;
    }
    const [uri, region] = args as [string, string];
    const tab = tabOf(command);
    if (typeof answer === "string") {
      vscode.window.setStatusBarMessage(answer, 5000);
      if (tab && live.shows(uri)) {
        live.show(tab, uri, region, answer);
      }
    } else if (tab && answer) {
      live.show(tab, uri, region, answer);
    } else if (answer?.versions) {
      void showHistory(args[0] as string, answer as unknown as History);
    } else if (answer) {
      showTable(context, answer);
    }
    return answer;
  };

  const command = (name: string, action: () => unknown) =>
    context.subscriptions.push(vscode.commands.registerCommand(name, action));
  /** Run a command of the server on the active document, or say why that is not possible. */
  const onDocument = async (name: string, ...details: unknown[]) => {
    const editor = vscode.window.activeTextEditor;
    if (!editor || !vscode.languages.match(SELECTOR, editor.document)) {
      void vscode.window.showInformationMessage("Cyclelens: open an assembly file, or a C, C++ or Rust file, first.");
    } else if (!client?.isRunning()) {
      void trouble(explanation || "The server is not running.");
    } else {
      await vscode.commands.executeCommand(name, editor.document.uri.toString(), ...details);
    }
  };
  /** Run a command of the server on the region at the cursor. */
  const onRegion = async (name: string, other?: (own: string, all: string[]) => Promise<string | undefined>) => {
    const editor = vscode.window.activeTextEditor;
    const all = editor ? ((await regionsSoon(editor.document)) ?? []) : [];
    const region = regionAt(all, editor?.selection.active.line ?? 0);
    if (client?.isRunning() && editor && !region) {
      void vscode.window.showInformationMessage(`Cyclelens: ${NO_REGION}`);
      return;
    }
    const second = await other?.(region?.name ?? "", all.map(({ name }) => name));
    if (!other || second) {
      await onDocument(name, region?.name, ...(second ? [second] : []));
    }
  };
  const another = async (own: string, all: string[]) => {
    const names = all.filter((name) => name !== own);
    return vscode.window.showQuickPick(names, { title: `Compare ${own} with`, placeHolder: "a region of this file" });
  };
  command("cyclelens.restart", () => inTurn(start));
  command("cyclelens.showLog", () => log.show());
  command("cyclelens.installServer", () => inTurn(install));
  command("cyclelens.explain", () => trouble(explanation));
  command("cyclelens.chooseMicroarchitecture", () => chooseMicroarchitecture(context));
  command("cyclelens.mark", () => mark(regionsSoon));
  command("cyclelens.showLoops", async () => {
    const document = vscode.window.activeTextEditor?.document;
    const found = document ? await regionsSoon(document) : undefined;
    const note = document ? (await known(document))?.note : undefined;
    await showLoops(found ?? [], note ?? "", () => chooseMicroarchitecture(context));
  });
  command("cyclelens.openExample", () => openExample(context));
  command("cyclelens.showTimeline", () => onRegion("cyclelens.timeline"));
  command("cyclelens.showInstructions", () => onRegion("cyclelens.instructions"));
  command("cyclelens.showCpus", () => onRegion("cyclelens.compare"));
  command("cyclelens.showAlignments", () => onRegion("cyclelens.alignment"));
  command("cyclelens.showOther", () => onRegion("cyclelens.compareRegions", another));
  command("cyclelens.showCommitted", () => onRegion("cyclelens.compareHead"));
  command("cyclelens.showWhatIf", () => onRegion("cyclelens.whatif"));
  command("cyclelens.showHistory", () => onRegion("cyclelens.history"));
  command("cyclelens.measureRegion", () => onRegion("cyclelens.measure"));
  command("cyclelens.pin", () => onDocument("cyclelens.pinBaseline"));
  command("cyclelens.unpin", () => onDocument("cyclelens.unpinBaseline"));
  command("cyclelens.analyseNow", () => onDocument("cyclelens.analyse"));
  command("cyclelens.applyRewrite", () => decide(true));
  command("cyclelens.discardRewrite", () => decide(false));

  const opened = (document: vscode.TextDocument) => {
    const sources = vscode.workspace.getConfiguration("cyclelens", document).get<boolean>("sources");
    if (!vscode.languages.match(sources && vscode.workspace.isTrusted ? SELECTOR : ASSEMBLY, document)) {
      return;
    }
    if (!started) {
      started = true;
      void inTurn(start);
    }
  };
  context.subscriptions.push(
    vscode.workspace.onDidOpenTextDocument(opened),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (started && change.affectsConfiguration("cyclelens.server")) {
        void inTurn(start);
      }
    }),
    // The server then requests the settings again.
    vscode.workspace.onDidGrantWorkspaceTrust(
      () => {
        void client?.sendNotification("workspace/didChangeConfiguration", { settings: null });
        vscode.workspace.textDocuments.forEach(opened);
      },
    ),
  );
  vscode.workspace.textDocuments.forEach(opened);
}

/** Ask for the CPU whose figures are in the text; the others of the setting follow it. */
async function chooseMicroarchitecture(context: vscode.ExtensionContext): Promise<void> {
  const configuration = vscode.workspace.getConfiguration("cyclelens", vscode.window.activeTextEditor?.document);
  const present = configuration.get<string[]>("microarchitectures", []);
  // package.json lists the names; it is made from the server's own list.
  const { items } = context.extension.packageJSON.contributes.configuration.properties["cyclelens.microarchitectures"];
  const choices = (items.enum as string[]).map((label, index) => ({
    label,
    description: `${items.enumDescriptions[index]}${label === present[0] ? ", shown now" : ""}`,
  }));
  const title = "CPU whose figures are shown in the text";
  const chosen = await vscode.window.showQuickPick(choices, { title, matchOnDescription: true });
  if (chosen) {
    const others = present.slice(1).filter((name) => name !== chosen.label);
    const { workspaceValue, workspaceFolderValue } = configuration.inspect("microarchitectures") ?? {};
    const target =
      workspaceFolderValue !== undefined
        ? vscode.ConfigurationTarget.WorkspaceFolder
        : workspaceValue !== undefined
          ? vscode.ConfigurationTarget.Workspace
          : vscode.ConfigurationTarget.Global;
    await configuration.update("microarchitectures", [chosen.label, ...others], target);
  }
}

/** Open a sample kernel in an editor of its own, without writing a file. */
async function openExample(context: vscode.ExtensionContext): Promise<void> {
  const file = vscode.Uri.joinPath(context.extensionUri, "walkthrough", "example.s");
  const content = new TextDecoder().decode(await vscode.workspace.fs.readFile(file));
  const document = await vscode.workspace.openTextDocument({ language: "asm", content });
  await vscode.window.showTextDocument(document);
}

export async function deactivate(): Promise<void> {
  await client?.dispose();
}
