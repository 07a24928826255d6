// The one panel beside the text: tabs about the region at the cursor, which follow the text and the cursor.
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import * as vscode from "vscode";
import { escaped, Table } from "./panel";
import { reveal } from "./reveal";
import { Region, regionAt } from "./status";

export type Answer = (Table & { html?: string; folded?: Table["rows"] }) | string | null;

/** Name, title, command of the server, and how long to wait for more edits before it is asked again. */
const TABS = [
  ["timeline", "Timeline", "cyclelens.timeline", 300],
  ["instructions", "Instructions", "cyclelens.instructions", 300],
  ["cpus", "CPUs", "cyclelens.compare", 1200],
  ["alignment", "Alignment", "cyclelens.alignment", 1200],
  ["whatif", "What if", "cyclelens.whatif", 1200],
  ["measure", "Measure", "cyclelens.measure", 0],
] as const;
type Tab = (typeof TABS)[number][0];

interface State {
  uri: string;
  region: string;
  tab: Tab;
}

/** The tab of one of the server's commands. */
export const tabOf = (command: string): Tab | undefined => TABS.find((tab) => tab[2] === command)?.[0];

export class Live implements vscode.Disposable, vscode.WebviewPanelSerializer {
  static readonly type = "cyclelens.live";
  private panel: vscode.WebviewPanel | undefined;
  private state: State | undefined;
  private measured = "";
  private timer: NodeJS.Timeout | undefined;
  /** The version of the text on display, so that nothing is requested twice. */
  private shownFor = "";
  private readonly parts: vscode.Disposable[];

  /** `ask` runs a command of the server; `regions` are those of a document. Both say nothing where there is none. */
  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly ask: (command: string, args: unknown[]) => Promise<Answer>,
    private readonly regions: (document: vscode.TextDocument) => Promise<Region[] | undefined>,
  ) {
    this.parts = [
      vscode.window.registerWebviewPanelSerializer(Live.type, this),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => void this.cursorMoved(textEditor)),
      vscode.window.onDidChangeActiveTextEditor((editor) => void (editor && this.cursorMoved(editor))),
      // Sources are compiled when they are saved: the same version gets other figures.
      vscode.workspace.onDidSaveTextDocument(({ uri }) => {
        this.shownFor = uri.toString() === this.state?.uri ? "" : this.shownFor;
      }),
    ];
  }

  /** Show a tab about a region; a current answer is not requested again. */
  show(tab: Tab, uri: string, region: string, answer?: Answer): void {
    this.state = { uri, region, tab };
    this.measured = tab === "measure" && typeof answer === "string" ? answer : this.measured;
    if (!this.panel) {
      const place = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true };
      this.adopt(vscode.window.createWebviewPanel(Live.type, "Cyclelens", place, { enableScripts: true, localResourceRoots: [] }));
    }
    this.panel?.reveal(undefined, true);
    if (answer) {
      this.draw(answer);
    } else {
      void this.refresh();
    }
  }

  /** Whether the panel shows this document and is visible. */
  shows(uri: string): boolean {
    return this.panel?.visible === true && this.state?.uri === uri;
  }

  /** After a reload of the window: the page is asked for as soon as the server has an answer. */
  async deserializeWebviewPanel(panel: vscode.WebviewPanel, state: State | undefined): Promise<void> {
    this.state = state;
    this.adopt(panel);
    this.draw(null);
  }

  /** A document has new results. */
  resultsArrived(uri: string): void {
    const editor = vscode.window.activeTextEditor;
    if (editor?.document.uri.toString() === uri && uri !== this.state?.uri) {
      // The file was chosen before its regions were known.
      void this.cursorMoved(editor);
      return;
    }
    if (this.panel?.visible && this.state?.uri === uri) {
      clearTimeout(this.timer);
      const wait = TABS.find(([name]) => name === this.state?.tab)?.[3] ?? 0;
      this.timer = setTimeout(() => void this.refresh(), wait);
    }
  }

  private adopt(panel: vscode.WebviewPanel): void {
    this.panel = panel;
    this.shownFor = "";
    panel.onDidDispose(() => (this.panel = undefined));
    panel.onDidChangeViewState(() => panel.visible && void this.refresh());
    panel.webview.onDidReceiveMessage((message: { command: string; tab?: Tab; line?: number }) => {
      if (!this.state) {
        return;
      }
      if (message.command === "reveal" && typeof message.line === "number") {
        void reveal(this.state.uri, message.line - 1);
      } else if (message.command === "tab" && message.tab) {
        this.state = { ...this.state, tab: message.tab };
        void this.refresh();
      } else if (message.command === "measure") {
        void vscode.commands.executeCommand("cyclelens.measure", this.state.uri, this.state.region);
      } else if (message.command === "ready") {
        this.pointTo(this.editor());
      }
    });
  }

  private editor(): vscode.TextEditor | undefined {
    return vscode.window.visibleTextEditors.find(({ document }) => document.uri.toString() === this.state?.uri);
  }

  private document(): vscode.TextDocument | undefined {
    return vscode.workspace.textDocuments.find(({ uri }) => uri.toString() === this.state?.uri);
  }

  private pointTo(editor: vscode.TextEditor | undefined): void {
    if (editor) {
      void this.panel?.webview.postMessage({ command: "cursor", line: editor.selection.active.line + 1 });
    }
  }

  private async cursorMoved(editor: vscode.TextEditor): Promise<void> {
    if (!this.panel?.visible || !this.state) {
      return;
    }
    const uri = editor.document.uri.toString();
    const region = regionAt((await this.regions(editor.document)) ?? [], editor.selection.active.line);
    if (region && (uri !== this.state.uri || region.name !== this.state.region)) {
      this.state = { ...this.state, uri, region: region.name };
      this.measured = "";
      void this.refresh();
    } else if (uri === this.state.uri) {
      this.pointTo(editor);
    }
  }

  private async refresh(): Promise<void> {
    const { state, panel } = this;
    const document = this.document();
    if (!state || !panel?.visible || !document) {
      return;
    }
    const wanted = JSON.stringify([state, document.version, this.measured]);
    if (wanted === this.shownFor) {
      return;
    }
    const command = TABS.find(([name]) => name === state.tab)?.[2] ?? "";
    const answer = state.tab === "measure" ? this.measured || " " : await this.ask(command, [state.uri, state.region]);
    // The first request to finish wins.
    if (answer && state === this.state && panel === this.panel) {
      this.draw(answer);
      this.shownFor = wanted;
    }
  }

  private draw(answer: Answer): void {
    const { panel, state } = this;
    if (panel && state) {
      panel.title = `Cyclelens: ${state.region}`;
      panel.webview.html = this.page(state, answer);
    }
  }

  private media(name: string): string {
    return readFileSync(vscode.Uri.joinPath(this.context.extensionUri, "media", name).fsPath, "utf8");
  }

  /** The server's page, or one made of its table, with the tabs in front. */
  private page(state: State, answer: Answer): string {
    // All CPUs at a glance are a table; the server's page has a card for each of them.
    const drawn = typeof answer === "object" && state.tab !== "cpus" ? answer?.html : undefined;
    const own = drawn ?? plain(state, answer);
    const nonce = /nonce-([\w]+)/.exec(own)?.[1] ?? "";
    const buttons = TABS.map(
      ([name, title]) =>
        `<button type="button" role="tab" data-tab="${name}" aria-selected="${name === state.tab}"` +
        ` tabindex="${name === state.tab ? 0 : -1}">${title}</button>`,
    ).join("");
    const values = JSON.stringify(state).replace(/</g, "\\u003c");
    const bar =
      `<style nonce="${nonce}">${this.media("live.css")}</style>` +
      `<header><div class="live" role="tablist" aria-label="About ${escaped(state.region)}">${buttons}</div></header>` +
      `<script type="application/json" id="live-state">${values}</script>` +
      `<script nonce="${nonce}">${this.media("live.js")}</script>`;
    // A function, so that no character of the text is special. The rest of the page must be there first.
    return own.replace(/<body([^>]*)>/, (body) => body + bar);
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.panel?.dispose();
    this.parts.forEach((part) => part.dispose());
  }
}

const drawn = (share: number) =>
  `<svg width="100%" height="10" aria-hidden="true"><rect width="${(100 * share).toFixed(1)}%" height="10"/></svg>`;

/** A page without a network: a table with a bar for its figures, or a sentence. */
function plain(state: State, answer: Answer): string {
  const nonce = randomBytes(16).toString("hex");
  let body = "<p>The figures come in a moment.</p>";
  if (state.tab === "measure") {
    const said = typeof answer === "string" ? answer.trim() : "";
    const note = "Measuring runs the code of the region on this machine, in a sandbox.";
    body = `<p>${escaped(said || note)}</p><p><button type="button" data-measure>Measure</button></p>`;
  } else if (answer && typeof answer === "object") {
    const figures = answer.columns.indexOf("cycles/iter");
    const bars = figures >= 0 && state.tab !== "whatif";
    // Of cores that agree one row is enough.
    const shown = answer.folded ?? answer.rows;
    const changes = answer.columns.indexOf("change");
    const most = Math.max(...shown.map((row) => Number(row[figures] ?? 0)), 0);
    const head = answer.columns.map((name) => `<th scope="col">${escaped(name).replace("/", "/<wbr>")}</th>`);
    const rows = shown.map((row) => {
      const line = /^(?:without |line )?(?:line )?(\d+):/.exec(String(row[changes] ?? ""))?.[1];
      const cells = row.map((value, column) =>
        typeof value === "number"
          ? // Cycles per byte are small.
            `<td class="number">${value.toFixed(/^cycles\/(?!iter)/.test(answer.columns[column]) ? 3 : 2)}</td>`
          : `<td>${escaped(value ?? "-")}</td>`,
      );
      if (bars) {
        const value = Number(row[figures] ?? 0);
        cells.splice(figures + 1, 0, `<td class="bar">${value ? drawn(value / most) : ""}</td>`);
      }
      return `<tr${line ? ` data-line="${line}"` : ""}>${cells.join("")}</tr>`;
    });
    if (bars) {
      head.splice(figures + 1, 0, '<th aria-hidden="true"></th>');
    }
    body = rows.length ? `<table><tr>${head.join("")}</tr>${rows.join("")}</table>` : `<pre>${escaped(answer.text)}</pre>`;
  }
  const policy = `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'`;
  return `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}"></head><body class="plain"><main>${body}</main></body></html>`;
}
