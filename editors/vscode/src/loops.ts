// The list behind the status item: every region or loop of the file with its figure, and the choice of the CPU.
import * as vscode from "vscode";
import { NO_REGION, Region } from "./status";

interface Item extends vscode.QuickPickItem {
  line?: number;
}

/** Go to the region that is chosen; `chooseCpu` if that was. `note`: why there is none. */
export async function showLoops(found: Region[], note: string, chooseCpu: () => Promise<void>): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (!editor) {
    return;
  }
  const kind = found.some((region) => region.unmarked) ? "loop" : "region";
  const items: Item[] = found.map((region) => ({
    label: region.name,
    description: region.headline || region.note,
    line: region.firstLine,
  }));
  const cpu: Item = { label: "Choose another CPU..." };
  const separator: Item = { label: "", kind: vscode.QuickPickItemKind.Separator };
  const count = `${found.length} ${kind}${found.length === 1 ? "" : "s"}`;
  const title = found.length ? `${count} of this file` : note || NO_REGION;
  const chosen = await vscode.window.showQuickPick([...items, separator, cpu], { title, matchOnDescription: true });
  if (chosen === cpu) {
    await chooseCpu();
  } else if (chosen?.line !== undefined) {
    const place = new vscode.Position(chosen.line, 0);
    editor.selection = new vscode.Selection(place, place);
    editor.revealRange(new vscode.Range(place, place), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    await vscode.window.showTextDocument(editor.document);
  }
}
