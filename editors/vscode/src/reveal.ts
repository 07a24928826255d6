// Puts the cursor on a line that a panel names.
import * as vscode from "vscode";

/** Put the cursor on a line, in the editor that shows the document already if there is one. */
export async function reveal(uri: string, line: number): Promise<void> {
  const shown = vscode.window.visibleTextEditors.find((editor) => editor.document.uri.toString() === uri);
  const document = shown?.document ?? (await vscode.workspace.openTextDocument(vscode.Uri.parse(uri)));
  const range = document.lineAt(Math.min(line, document.lineCount - 1)).range;
  const place = new vscode.Range(range.start, range.start);
  await vscode.window.showTextDocument(document, {
    viewColumn: shown?.viewColumn ?? vscode.ViewColumn.One,
    selection: place,
  });
}
