// Pages that the server makes: the timeline, and pictures of comparisons. They are shown as they come: each has a
// content security policy of its own, its colours are the editor's, and it says which line was clicked.
import * as vscode from "vscode";

export interface Report {
  title: string;
  html: string;
}

const open = new Map<string, { panel: vscode.WebviewPanel; uri: string }>();

/** Show a page beside the editor; one that is shown already is replaced. `uri` is the document that it is about. */
export function showReport(context: vscode.ExtensionContext, uri: string, report: Report): void {
  const key = `${uri} ${report.title}`;
  let panel = open.get(key)?.panel;
  if (!panel) {
    panel = vscode.window.createWebviewPanel(
      "cyclelens.report",
      report.title,
      { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
      // The place in a timeline survives a look at another tab.
      { enableScripts: true, localResourceRoots: [], retainContextWhenHidden: true },
    );
    open.set(key, { panel, uri });
    panel.onDidDispose(() => open.delete(key));
    panel.webview.onDidReceiveMessage((message: { command?: string; line?: number }) => {
      if (message.command === "reveal" && typeof message.line === "number") {
        void reveal(uri, message.line - 1);
      }
    });
    watch(context);
  }
  panel.title = report.title;
  panel.webview.html = report.html;
  panel.reveal(undefined, true);
}

/** Put the cursor on a line, in the editor that shows the document already if there is one. */
async function reveal(uri: string, line: number): Promise<void> {
  const shown = vscode.window.visibleTextEditors.find((editor) => editor.document.uri.toString() === uri);
  const document = shown?.document ?? (await vscode.workspace.openTextDocument(vscode.Uri.parse(uri)));
  const range = document.lineAt(Math.min(line, document.lineCount - 1)).range;
  const place = new vscode.Range(range.start, range.start);
  await vscode.window.showTextDocument(document, {
    viewColumn: shown?.viewColumn ?? vscode.ViewColumn.One,
    selection: place,
  });
}

let watching = false;

/** A page whose document was edited says so: it is about the text as it was. */
function watch(context: vscode.ExtensionContext): void {
  if (watching) {
    return;
  }
  watching = true;
  context.subscriptions.push(
    vscode.workspace.onDidChangeTextDocument((change) => {
      for (const { panel, uri } of open.values()) {
        const edited = change.contentChanges.length > 0 && change.document.uri.toString() === uri;
        if (edited && !panel.title.endsWith(" (stale)")) {
          panel.title += " (stale)";
        }
      }
    }),
  );
}
