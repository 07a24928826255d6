// Tables of comparisons beside the editor.
import * as vscode from "vscode";

export interface Table {
  title: string;
  text: string;
  columns: string[];
  rows: (string | number)[][];
}

const open = new Map<string, vscode.WebviewPanel>();

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);
}

/** A page without network and scripts, with the styles of the extension only. */
export function page(csp: string, style: string, body: string): string {
  const policy = `default-src 'none'; style-src ${csp}`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<link rel="stylesheet" href="${style}">
</head>
<body>
${body}
</body>
</html>`;
}

function show(context: vscode.ExtensionContext, title: string, body: string): void {
  const media = vscode.Uri.joinPath(context.extensionUri, "media");
  let panel = open.get(title);
  if (!panel) {
    panel = vscode.window.createWebviewPanel(
      "cyclelens",
      title,
      { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
      { localResourceRoots: [media] },
    );
    open.set(title, panel);
    panel.onDidDispose(() => open.delete(title));
  }
  const webview = panel.webview;
  const style = webview.asWebviewUri(vscode.Uri.joinPath(media, "panel.css")).toString();
  webview.html = page(webview.cspSource, style, body);
  panel.reveal(undefined, true);
}

/** A comparison as a table, with the text below it where there is more to say. */
export function showTable(context: vscode.ExtensionContext, table: Table): void {
  const cells = (values: (string | number)[], tag: string) =>
    values.map((v) => `<${tag}>${escaped(typeof v === "number" && !Number.isInteger(v) ? v.toFixed(2) : String(v))}</${tag}>`).join("");
  const rows = table.rows.map((row) => `<tr>${cells(row, "td")}</tr>`).join("\n");
  const head = table.rows.length ? `<table><tr>${cells(table.columns, "th")}</tr>\n${rows}</table>` : "";
  show(context, table.title, `<h1>${escaped(table.title)}</h1><pre>${escaped(table.text)}</pre>${head}`);
}
