// The cost of an instruction, shown at the mouse pointer. The server's Markdown becomes nodes, never markup.
import { hoverTooltip } from "./codemirror.js";

const PIECES = /\*\*(.+?)\*\*|``\s?(.+?)\s?``|`([^`]+)`|\[([^\]]+)\]\((https:\/\/[^\s)]+)\)|\\([^\w\s])/g;

function node(name, content, properties = {}) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...[content].flat());
  return made;
}

const SIGNS = { "&lt;": "<", "&gt;": ">", "&amp;": "&" };
const plain = (words) => words.replace(/&(?:lt|gt|amp);/g, (sign) => SIGNS[sign]);

/** The pieces of a line: bold text, code, links, and plain text. */
function pieces(line) {
  const found = [];
  let from = 0;
  for (const match of line.matchAll(PIECES)) {
    found.push(plain(line.slice(from, match.index)));
    const [all, bold, longCode, code, title, address, escaped] = match;
    if (bold) found.push(node("b", pieces(bold)));
    else if (longCode ?? code) found.push(node("code", (longCode ?? code).replaceAll("\\|", "|")));
    else if (title) found.push(node("a", title, { href: address, target: "_blank", rel: "noreferrer" }));
    else found.push(escaped);
    from = match.index + all.length;
  }
  return [...found, plain(line.slice(from))];
}

export function card(markdown) {
  const place = node("div", [], { className: "card" });
  let list;
  for (const line of markdown.split("\n")) {
    if (line.startsWith("- ")) {
      list ??= place.appendChild(node("ul", []));
      list.append(node("li", pieces(line.slice(2))));
      continue;
    }
    list = undefined;
    if (line === "---") place.append(node("hr", []));
    else if (line !== "") place.append(node("p", pieces(line)));
  }
  return place;
}

/** `ask(line)` returns the Markdown of a line, or nothing. */
export const cards = (ask) => hoverTooltip(async (view, position) => {
  const line = view.state.doc.lineAt(position);
  if (position < line.from + line.text.search(/\S|$/)) return null;
  const said = await ask(line.number - 1);
  return said ? { pos: line.from, end: line.to, create: () => ({ dom: card(said) }) } : null;
});
