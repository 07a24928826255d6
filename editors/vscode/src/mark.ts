// Puts the markers of a region around the selected lines.
import * as vscode from "vscode";

/** Whole lines, with the comment sign of the file: NASM and MASM know the semicolon only. */
export async function markSelection(): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (!editor || editor.selection.isEmpty) {
    void vscode.window.showInformationMessage("Cyclelens: select the lines of the loop first.");
    return;
  }
  const { document, selection } = editor;
  const name = await vscode.window.showInputBox({ title: "Name of the region", value: "loop" });
  if (name === undefined) {
    return;
  }
  // A selection that ends at the start of a line does not mean that line.
  const last = selection.end.character === 0 ? selection.end.line - 1 : selection.end.line;
  const sign = /\.asm$/i.test(document.uri.path) || /nasm|masm/.test(document.languageId) ? ";" : "#";
  const end = document.eol === vscode.EndOfLine.CRLF ? "\r\n" : "\n";
  await editor.edit((edit) => {
    edit.insert(new vscode.Position(selection.start.line, 0), `${sign} cyclelens-begin ${name.trim()}${end}`);
    edit.insert(document.lineAt(last).range.end, `${end}${sign} cyclelens-end`);
  });
}
