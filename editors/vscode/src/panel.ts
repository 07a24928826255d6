// Tables of comparisons beside the editor.
import * as vscode from "vscode";

export interface Table {
  title: string;
  text: string;
  columns: string[];
  rows: (string | number | null)[][];
  /** Notes below the rows of a table that needs no other text. */
  notes?: string;
}

const open = new Map<string, vscode.WebviewPanel>();

export function escaped(text: string): string {
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
<main>
${body}
</main>
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

/** A comparison: its rows and notes; or the text with its main results, and every figure to look up or copy. */
export function showTable(context: vscode.ExtensionContext, table: Table): void {
  const cell = (value: string | number | null, column: number) => {
    const fraction = table.rows.some((row) => typeof row[column] === "number" && !Number.isInteger(row[column]));
    return typeof value === "number"
      ? `<td class="number">${value.toFixed(fraction ? 2 : 0)}</td>`
      : `<td>${escaped(value ?? "-")}</td>`;
  };
  const head = table.columns.map((name) => `<th scope="col">${escaped(name)}</th>`).join("");
  const rows = table.rows.map((row) => `<tr>${row.map(cell).join("")}</tr>`).join("\n");
  const figures = rows && `<table class="wrapped"><tr>${head}</tr>\n${rows}</table>`;
  const body =
    table.notes !== undefined && rows
      ? `${figures}<pre class="note">${escaped(table.notes)}</pre>`
      : `<pre${rows ? "" : ' class="note"'}>${escaped(table.text)}</pre>` +
        (rows && `<details><summary>All figures</summary>${figures}</details>`);
  show(context, table.title, `<h1>${escaped(table.title)}</h1>${body}`);
}
