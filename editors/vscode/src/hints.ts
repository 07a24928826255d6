// Draws the hints of assembly as decorations in one column. Hints of the editor have a background, which would also lie
// behind the spaces that align them, and one colour for all.
import * as vscode from "vscode";

type Next = (document: vscode.TextDocument, range: vscode.Range, token: vscode.CancellationToken) => vscode.ProviderResult<vscode.InlayHint[]>;

/** The bars of each colour that package.json contributes. */
const HEAT = [
  ["▆▇█", "cyclelens.heatHigh"],
  ["▃▄▅", "cyclelens.heatMedium"],
  ["▁▂", "cyclelens.heatLow"],
] as const;

export class Hints implements vscode.Disposable {
  // Text typed at the end of a line comes before its hint.
  private readonly type = vscode.window.createTextEditorDecorationType({ rangeBehavior: vscode.DecorationRangeBehavior.ClosedOpen });
  /** What is drawn in each document: line -> hint. */
  private readonly drawn = new Map<string, Map<number, vscode.InlayHint>>();
  private readonly listeners: vscode.Disposable[];

  constructor(private readonly selector: vscode.DocumentSelector) {
    this.listeners = [
      vscode.window.onDidChangeVisibleTextEditors((editors) => editors.forEach((editor) => this.show(editor))),
      vscode.workspace.onDidChangeTextDocument((change) => this.edited(change)),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => this.drawn.delete(uri.toString())),
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration("editor.inlayHints.enabled")) {
          this.clear();
        }
      }),
    ];
  }

  /** Answer a request of the editor for hints: those that are drawn here are none of its own. */
  async provide(document: vscode.TextDocument, range: vscode.Range, token: vscode.CancellationToken, next: Next): Promise<vscode.InlayHint[] | null | undefined> {
    const key = document.uri.toString();
    if (!this.draws(document)) {
      this.drawn.delete(key);
      this.showAll(key);
      return next(document, range, token);
    }
    const { version } = document;
    const seen = this.editors(key).flatMap((editor) => editor.visibleRanges);
    const found = await next(document, seen.reduce((all, one) => all.union(one), range), token);
    // A later request, or an edit, brings an answer of its own.
    if (found && document.version === version && !token.isCancellationRequested) {
      this.drawn.set(key, new Map(found.map((hint) => [hint.position.line, hint])));
      this.showAll(key);
    }
    return [];
  }

  /** Whether a place is a hint: one behind the end of a line. */
  at(document: vscode.TextDocument, position: vscode.Position): boolean {
    const isHinted = this.drawn.get(document.uri.toString())?.has(position.line) ?? false;
    return isHinted && position.character === document.lineAt(position.line).text.length;
  }

  clear(): void {
    const keys = [...this.drawn.keys()];
    this.drawn.clear();
    keys.forEach((key) => this.showAll(key));
  }

  /** Whether hints are drawn here. Screen readers read only those of the editor, which can also show them while a key is
   * pressed. */
  private draws(document: vscode.TextDocument): boolean {
    const editor = vscode.workspace.getConfiguration("editor", document);
    return (
      vscode.languages.match(this.selector, document) > 0 &&
      vscode.workspace.getConfiguration("cyclelens", document).get("hints.column", true) &&
      editor.get("inlayHints.enabled") !== "offUnlessPressed" &&
      editor.get("accessibilitySupport") !== "on"
    );
  }

  private editors(key: string): vscode.TextEditor[] {
    return vscode.window.visibleTextEditors.filter(({ document }) => document.uri.toString() === key);
  }

  private showAll(key: string): void {
    this.editors(key).forEach((editor) => this.show(editor));
  }

  private show(editor: vscode.TextEditor): void {
    const { document } = editor;
    const hints = [...(this.drawn.get(document.uri.toString()) ?? [])].filter(([line]) => line < document.lineCount);
    editor.setDecorations(
      this.type,
      hints.map(([line, hint]) => {
        const { end } = document.lineAt(line).range;
        return { range: new vscode.Range(end, end), renderOptions: look(String(hint.label)) };
      }),
    );
  }

  /** Hints keep their lines when lines come and go, until the server has answered. */
  private edited({ document, contentChanges }: vscode.TextDocumentChangeEvent): void {
    const key = document.uri.toString();
    let hints = this.drawn.get(key);
    for (const { range, text } of contentChanges) {
      const more = text.split("\n").length - 1 - (range.end.line - range.start.line);
      if (hints && more) {
        hints = new Map([...hints].flatMap(([line, hint]) => moved(line, range, more).map((now) => [now, hint])));
        this.drawn.set(key, hints);
        this.showAll(key);
      }
    }
  }

  dispose(): void {
    this.type.dispose();
    this.listeners.forEach((listener) => listener.dispose());
  }
}

/** The line of a hint after an edit that adds lines or removes them; none if its line was deleted. */
function moved(line: number, { start, end }: vscode.Range, more: number): number[] {
  if (line < start.line || (line === start.line && start.character > 0)) {
    return [line];
  }
  return line < end.line ? [] : [line + more];
}

/** A hint as decoration: spaces become a margin, and a bar colours its hint. The cursor at the end of a line is in front
 * of what is drawn after it, but not of what is drawn before it. */
function look(label: string): vscode.DecorationInstanceRenderOptions {
  const text = label.trimStart();
  const [, colour] = HEAT.find(([bars]) => bars.includes(text[0])) ?? ["", "cyclelens.hint"];
  const margin = `0 0 0 ${label.length - text.length + 1}ch`;
  return { after: { contentText: text, color: new vscode.ThemeColor(colour), margin } };
}
