// Puts the markers of a region around the selected lines, or around the loop at the cursor.
import * as vscode from "vscode";
import { Region } from "./status";

/** Whole lines, with the comment sign of the file: NASM and MASM know the semicolon only. */
export async function mark(regions: (document: vscode.TextDocument) => Promise<Region[] | undefined>): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (!editor) {
    return;
  }
  const { document, selection } = editor;
  const line = selection.active.line;
  // Without a selection the loop at the cursor is meant.
  const loop = selection.isEmpty
    ? (await regions(document))?.find((each) => each.unmarked && each.firstLine <= line && line <= each.lastLine)
    : undefined;
  if (selection.isEmpty && !loop) {
    const message = "Cyclelens: put the cursor into a loop that is not marked yet, or select lines.";
    void vscode.window.showInformationMessage(message);
    return;
  }
  const value = loop?.name.replace(/^\.L?/, "").replace(/^\d/, "loop-$&") || "loop";
  const name = await vscode.window.showInputBox({ title: "Name of the region", value });
  if (name === undefined) {
    return;
  }
  const first = loop ? loop.firstLine : selection.start.line;
  // A selection that ends at the start of a line does not mean that line.
  const last = loop ? loop.lastLine : selection.end.character === 0 ? selection.end.line - 1 : selection.end.line;
  const sign = /\.(asm|nasm)$/i.test(document.uri.path) || /nasm|masm/.test(document.languageId) ? ";" : "#";
  const end = document.eol === vscode.EndOfLine.CRLF ? "\r\n" : "\n";
  await editor.edit((edit) => {
    edit.insert(new vscode.Position(first, 0), `${sign} cyclelens-begin ${name.trim()}${end}`);
    edit.insert(document.lineAt(last).range.end, `${end}${sign} cyclelens-end`);
  });
}
