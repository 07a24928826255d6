// The item in the status bar: the figure of the region at the cursor, or what is wrong.
import * as vscode from "vscode";

export interface Region {
  name: string;
  firstLine: number;
  lastLine: number;
  /** The figures of all CPUs, with what limits each. */
  headline: string;
  /** The figure and the CPU; of several the first. Empty if there is none. */
  status: string;
  microarchitecture: string;
  note: string;
  /** A loop that was found because nothing is marked. */
  unmarked: boolean;
}

/** What the server knows of a document. */
export interface Answer {
  regions: Region[];
  /** Why no project compiles a source. */
  note: string;
  upToDate: boolean;
}

export const NO_REGION = "No region is marked, and no loop was found: select lines and run 'Cyclelens: Mark the Loop or the Selected Lines'.";

/** The region around a line, else the first one below, else the last one. */
export function regionAt(regions: Region[], line: number): Region | undefined {
  return regions.find((region) => line <= region.lastLine) ?? regions.at(-1);
}

export class Status implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("cyclelens", vscode.StatusBarAlignment.Right, 200);
  private readonly listeners: vscode.Disposable[];
  private timer: NodeJS.Timeout | undefined;
  private general: string | undefined = "$(dashboard) Cyclelens";
  private uncompiled = false;

  /** `answer` asks the server; undefined if there is no server to ask. */
  constructor(
    private readonly selector: vscode.DocumentSelector,
    private readonly answer: (document: vscode.TextDocument) => Promise<Answer | null | undefined>,
  ) {
    this.item.name = "Cyclelens";
    this.listeners = [
      vscode.window.onDidChangeActiveTextEditor(() => this.refresh()),
      vscode.window.onDidChangeTextEditorSelection(() => this.refresh()),
      vscode.workspace.onDidChangeTextDocument(() => this.refresh()),
    ];
  }

  /** The server works; show figures from now on. */
  running(uncompiled: boolean): void {
    this.general = undefined;
    this.uncompiled = uncompiled;
    this.item.command = { title: "List the loops", command: "cyclelens.showLoops" };
    this.item.backgroundColor = undefined;
    this.refresh();
  }

  busy(text: string): void {
    this.say(`$(loading~spin) ${text}`, "", undefined, "cyclelens.showLog");
  }

  /** `news`: no error, but the user must do something first. */
  trouble(message: string, news = false): void {
    const colour = news ? undefined : new vscode.ThemeColor("statusBarItem.errorBackground");
    this.say(news ? "$(cloud-download) Cyclelens: install" : "$(error) Cyclelens", message, colour, "cyclelens.explain");
  }

  private say(text: string, tooltip: string, colour: vscode.ThemeColor | undefined, command: string): void {
    this.general = text;
    this.item.tooltip = tooltip;
    this.item.backgroundColor = colour;
    this.item.command = command;
    this.refresh();
  }

  /** Update soon, and once for simultaneous events. */
  refresh(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.show(), 50);
  }

  private async show(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    if (!editor || !vscode.languages.match(this.selector, editor.document)) {
      this.item.hide();
      return;
    }
    if (this.general !== undefined) {
      this.item.text = this.general;
      this.item.show();
      return;
    }
    const answer = await this.answer(editor.document);
    if (!answer || editor !== vscode.window.activeTextEditor || this.general !== undefined) {
      return;
    }
    const region = regionAt(answer.regions, editor.selection.active.line);
    if (region?.status) {
      this.item.text = `$(dashboard) ${region.status}`;
      this.item.tooltip = `${region.name}: ${region.headline}\nClick for all loops of the file, or for another CPU.`;
    } else {
      const [first] = vscode.workspace.getConfiguration("cyclelens", editor.document).get("microarchitectures", ["native"]);
      // A marker may ask for another CPU than the settings.
      const name = region?.microarchitecture || first;
      const missing = answer.note ? "no compile command" : "no region";
      this.item.text = `$(dashboard) ${region ? "no figure" : missing} · ${name}`;
      this.item.tooltip = region ? `${region.name}: ${region.note}` : answer.note || NO_REGION;
    }
    if (this.uncompiled) {
      this.item.text += " · $(warning) uncompiled";
      this.item.tooltip += "\nThe simulator runs as plain Python, about 50 times slower: no compiler was found at installation.";
    }
    this.item.show();
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.item.dispose();
    this.listeners.forEach((listener) => listener.dispose());
  }
}
