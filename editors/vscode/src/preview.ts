// Shows a rewrite of a loop as a diff beside the text, and applies it after the user's review.
import * as vscode from "vscode";

/** An edit of the protocol; columns are UTF-16 code units, as in the editor. */
interface Edit {
  range: { start: { line: number; character: number }; end: { line: number; character: number } };
  newText: string;
}

const SCHEME = "cyclelens-rewrite";
const texts = new Map<string, string>();

/** The command of the server's code actions, and the rewritten texts as documents that cannot be edited. */
export function registerPreview(): vscode.Disposable {
  const provider = { provideTextDocumentContent: (uri: vscode.Uri) => texts.get(uri.toString()) ?? "" };
  return vscode.Disposable.from(
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, provider),
    vscode.commands.registerCommand("cyclelens.previewRewrite", preview),
  );
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
  const rewritten = file.with({ scheme: SCHEME, query: title });
  texts.set(rewritten.toString(), applied(document, edits));
  await vscode.commands.executeCommand("vscode.diff", file, rewritten, title);
  const apply = "Apply the Rewrite";
  const choice = await vscode.window.showInformationMessage(`Cyclelens: ${details}`, apply, "Discard It");
  // Show the text first, so that closing the diff does not take the focus.
  await vscode.window.showTextDocument(document);
  await close(rewritten);
  texts.delete(rewritten.toString());
  if (choice === apply && !changed()) {
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
  const shown = ({ input }: vscode.Tab) =>
    input instanceof vscode.TabInputTextDiff && input.modified.toString() === rewritten.toString();
  await vscode.window.tabGroups.close(tabs.filter(shown));
}
