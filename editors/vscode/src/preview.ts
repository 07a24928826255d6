// Shows a rewrite of a loop as a diff beside the text, and applies it after the user's review.
import * as vscode from "vscode";

/** An edit of the protocol; columns are UTF-16 code units, as in the editor. */
interface Edit {
  range: { start: { line: number; character: number }; end: { line: number; character: number } };
  newText: string;
}

const SCHEME = "cyclelens-rewrite";

/** A rewrite that is shown, and how the user decides on it. */
interface Shown {
  text: string;
  decide: (apply: boolean) => void;
}
const shown = new Map<string, Shown>();

/** The command of the server's code actions, and the rewritten texts as documents that cannot be edited. */
export function registerPreview(): vscode.Disposable {
  const provider = { provideTextDocumentContent: (uri: vscode.Uri) => shown.get(uri.toString())?.text ?? "" };
  return vscode.Disposable.from(
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, provider),
    vscode.commands.registerCommand("cyclelens.previewRewrite", preview),
    // A closed tab is a rewrite that nobody wants.
    vscode.window.tabGroups.onDidChangeTabs(({ closed }) => closed.forEach((tab) => decideOn(rewriteIn(tab), false))),
  );
}

/** Apply or discard the rewrite in front; for the buttons of its title bar, and for keys. */
export function decide(apply: boolean): void {
  decideOn(rewriteIn(vscode.window.tabGroups.activeTabGroup.activeTab), apply);
}

function decideOn(rewrite: vscode.Uri | undefined, apply: boolean): void {
  shown.get(rewrite?.toString() ?? "")?.decide(apply);
}

function rewriteIn(tab: vscode.Tab | undefined): vscode.Uri | undefined {
  const input = tab?.input;
  return input instanceof vscode.TabInputTextDiff && input.modified.scheme === SCHEME ? input.modified : undefined;
}

async function preview(uri: string, version: number, edits: Edit[], title: string, details: string): Promise<void> {
  const file = vscode.Uri.parse(uri);
  const document = await vscode.workspace.openTextDocument(file);
  const changed = () => {
    if (document.version !== version) {
      void vscode.window.showInformationMessage("Cyclelens: the text has changed; ask for the rewrite again.");
    }
    return document.version !== version;
  };
  if (changed()) {
    return;
  }
  const rewritten = file.with({ scheme: SCHEME, query: `${version} ${title}` });
  const key = rewritten.toString();
  if (shown.has(key)) {
    await vscode.commands.executeCommand("vscode.diff", file, rewritten, title);
    return;
  }
  const decided = new Promise<boolean>((resolve) => shown.set(key, { text: applied(document, edits), decide: resolve }));
  await vscode.commands.executeCommand("vscode.diff", file, rewritten, title);
  const { decide } = shown.get(key)!;
  const apply = "Apply the Rewrite";
  // The message may vanish; the buttons of the title bar stay.
  void vscode.window.showInformationMessage(`Cyclelens: ${details}`, apply, "Discard It").then((choice) => {
    if (choice !== undefined) {
      decide(choice === apply);
    }
  });
  const wanted = await decided;
  shown.delete(key);
  // Show the text first, so that closing the diff does not take the focus.
  await vscode.window.showTextDocument(document);
  await close(rewritten);
  if (wanted && !changed()) {
    const change = new vscode.WorkspaceEdit();
    change.set(file, edits.map((edit) => vscode.TextEdit.replace(range(edit), edit.newText)));
    await vscode.workspace.applyEdit(change);
  }
}

function range({ range: { start, end } }: Edit): vscode.Range {
  return new vscode.Range(start.line, start.character, end.line, end.character);
}

/** Apply all edits to the text, the last one first, so that earlier positions stay valid. */
function applied(document: vscode.TextDocument, edits: Edit[]): string {
  const found = edits.map((edit) => {
    const { start, end } = range(edit);
    return { from: document.offsetAt(start), to: document.offsetAt(end), text: edit.newText };
  });
  return found
    .sort((one, other) => other.from - one.from)
    .reduce((text, { from, to, text: now }) => text.slice(0, from) + now + text.slice(to), document.getText());
}

async function close(rewritten: vscode.Uri): Promise<void> {
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  await vscode.window.tabGroups.close(tabs.filter((tab) => rewriteIn(tab)?.toString() === rewritten.toString()));
}
