// The figures of a region since HEAD and since its file was opened: choosing one opens its difference to the present.
import * as vscode from "vscode";

export interface History {
  title: string;
  rows: [string, number, string][];
  figures: string[];
  versions: string[];
  present: string;
  firstLine: number;
  lastLine: number;
}

const SCHEME = "cyclelens-history";
const texts = new Map<string, string>();

/** Old versions as documents that cannot be edited. */
export function registerHistory(): vscode.Disposable {
  const provider = { provideTextDocumentContent: (uri: vscode.Uri) => texts.get(uri.toString()) ?? "" };
  return vscode.workspace.registerTextDocumentContentProvider(SCHEME, provider);
}

/** Ask for a version and show its text beside the present file as a diff, whose arrows copy parts. */
export async function showHistory(uri: string, history: History): Promise<void> {
  const items = history.rows.map(([label, , change], index) => ({
    label: history.figures[index],
    description: `${label}${change ? ` · now ${change}` : ""}`,
    index,
  }));
  const placeHolder = items.length ? "choose a version to compare the text with" : "there is no figure yet";
  const chosen = await vscode.window.showQuickPick(items.reverse(), { title: history.title, placeHolder });
  if (!chosen) {
    return;
  }
  const file = vscode.Uri.parse(uri);
  const document = await vscode.workspace.openTextDocument(file);
  const lines = document.getText().split(/\r?\n/);
  lines.splice(history.firstLine, history.lastLine - history.firstLine + 1, ...history.versions[chosen.index].split("\n"));
  const [label] = history.rows[chosen.index];
  const old = file.with({ scheme: SCHEME, query: `${history.title} ${label}` });
  texts.set(old.toString(), lines.join("\n"));
  await vscode.commands.executeCommand("vscode.diff", old, file, `${history.title}: ${label} against now`);
}
