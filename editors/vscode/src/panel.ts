// Panels beside the editor: the timeline, and tables of comparisons.
import { randomBytes } from "node:crypto";
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

/** A page without network, with the scripts and styles of the extension only. */
export function page(csp: string, nonce: string, style: string, script: string, body: string): string {
  const policy = `default-src 'none'; style-src ${csp}; script-src 'nonce-${nonce}'`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<link rel="stylesheet" href="${style}">
</head>
<body>
${body}
${script ? `<script nonce="${nonce}" src="${script}"></script>` : ""}
</body>
</html>`;
}

function show(context: vscode.ExtensionContext, title: string, body: string, script: boolean): vscode.Webview {
  const media = vscode.Uri.joinPath(context.extensionUri, "media");
  const dist = vscode.Uri.joinPath(context.extensionUri, "dist");
  let panel = open.get(title);
  if (!panel) {
    panel = vscode.window.createWebviewPanel(
      "cyclelens",
      title,
      { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
      { enableScripts: script, localResourceRoots: [media, dist] },
    );
    open.set(title, panel);
    panel.onDidDispose(() => open.delete(title));
  }
  const webview = panel.webview;
  const style = webview.asWebviewUri(vscode.Uri.joinPath(media, "panel.css")).toString();
  const source = webview.asWebviewUri(vscode.Uri.joinPath(dist, "timeline.js")).toString();
  const nonce = randomBytes(16).toString("hex");
  webview.html = page(webview.cspSource, nonce, style, script ? source : "", body);
  panel.reveal(undefined, true);
  return webview;
}

/** A comparison as a table, with the text below it where there is more to say. */
export function showTable(context: vscode.ExtensionContext, table: Table): void {
  const cells = (values: (string | number)[], tag: string) =>
    values.map((v) => `<${tag}>${escaped(typeof v === "number" && !Number.isInteger(v) ? v.toFixed(2) : String(v))}</${tag}>`).join("");
  const rows = table.rows.map((row) => `<tr>${cells(row, "td")}</tr>`).join("\n");
  const head = table.rows.length ? `<table><tr>${cells(table.columns, "th")}</tr>\n${rows}</table>` : "";
  show(context, table.title, `<h1>${escaped(table.title)}</h1><pre>${escaped(table.text)}</pre>${head}`, false);
}

/** The timeline of a region, as the server answers `cyclelens/timeline`. */
export function showTimeline(context: vscode.ExtensionContext, region: string, timelines: unknown[]): void {
  const title = `Timeline of ${region}`;
  // As data, never as code: the policy allows no script inside of the page.
  const data = escaped(JSON.stringify(timelines));
  const body = `<h1>${escaped(title)}</h1><main id="timeline" data-timelines="${data}"></main>`;
  show(context, title, body, true);
}
