// The page of `cyclelens serve`: an editor, the settings, and the server's answers beside the text.
import {
  classHighlighter, Decoration, defaultKeymap, EditorState, EditorView, highlightActiveLine,
  highlightActiveLineGutter, highlightSelectionMatches, history, historyKeymap, indentWithTab, keymap, lineNumbers,
  lintGutter, lintKeymap, placeholder, search, searchKeymap, setDiagnostics, StateEffect, StateField,
  syntaxHighlighting, WidgetType,
} from "./codemirror.js";
import { cards } from "./cards.js";
import { EXAMPLES } from "./examples.js";
import { assembly } from "./highlighting.js";
import { packed, unpacked } from "./links.js";

const TYPING = 150; // milliseconds without a key until the text is analysed
const CHOICES = ["microarchitectures", "syntax", "mode", "alignment", "model"];
const FORMER = { reference: "uica" }; // what links of before name differently
const BEGIN = "# cyclelens-begin kernel";
const END = "# cyclelens-end";
const SUFFIXES = { html: "html", json: "json", markdown: "md", text: "txt", svg: "svg" };
const SEVERITIES = { error: "error", warning: "warning", information: "info" };

// Nothing can be chosen before the list of CPUs is here, so `open` overwrites no choice.
const cores = await (await fetch("cores")).json();

const windowName = crypto.randomUUID();
const element = (id) => document.getElementById(id);
let regions = [];
let shownRegion = "";
let view = "timeline";
let asked = 0;

// -- the editor ----------------------------------------------------------------------------------------------

class HintWidget extends WidgetType {
  constructor(hint) {
    super();
    this.hint = hint;
  }
  eq(other) {
    return other.hint.label === this.hint.label && other.hint.tooltip === this.hint.tooltip;
  }
  toDOM() {
    const span = document.createElement("span");
    span.className = this.hint.label.includes("cycles/iter") ? "cm-hint figure" : "cm-hint";
    span.textContent = this.hint.label;
    span.title = this.hint.tooltip;
    return span;
  }
  /** A click on a hint counts as a click on its line. */
  ignoreEvent() {
    return false;
  }
}

const setHints = StateEffect.define();
const hintField = StateField.define({
  create: () => Decoration.none,
  update(hints, transaction) {
    for (const effect of transaction.effects) if (effect.is(setHints)) return effect.value;
    return hints.map(transaction.changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});

const editor = new EditorView({
  parent: element("editor"),
  state: EditorState.create({
    extensions: [
      EditorView.lineWrapping, lineNumbers(), highlightActiveLine(), highlightActiveLineGutter(), history(), search(),
      highlightSelectionMatches(), lintGutter(), assembly, syntaxHighlighting(classHighlighter), hintField,
      keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap, ...lintKeymap, indentWithTab]),
      placeholder("Paste a loop, in AT&T, Intel or NASM syntax, or machine code in hexadecimal."),
      cards(instructionCard),
      EditorView.contentAttributes.of({ "aria-label": "Assembly text", tabindex: "0" }),
      EditorView.updateListener.of((update) => update.docChanged && soon()),
    ],
  }),
});

const text = () => editor.state.doc.toString();

/** Replaces the whole text, as one step that can be undone. */
function setText(content) {
  editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: content } });
}

/** Editor position of a server position. The server counts characters, the editor UTF-16 units. */
function position(line, column) {
  const doc = editor.state.doc;
  const found = doc.line(Math.min(Math.max(line, 0) + 1, doc.lines));
  const units = [...found.text].slice(0, column).join("").length;
  return found.from + units;
}

function goTo(line) {
  const at = position(line, 0);
  editor.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
  editor.focus();
}

// -- questions -----------------------------------------------------------------------------------------------

function options() {
  const chosen = {};
  for (const name of CHOICES) {
    const value = element(name).value;
    if (value === "" || value === "auto") continue;
    chosen[name] = name === "alignment" ? Number(value) : name === "microarchitectures" ? [value, ...beside()] : value;
  }
  return chosen;
}

/** The answer; undefined if a later question of the same kind superseded it. */
async function ask(kind, more = {}) {
  const response = await fetch(kind, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ window: windowName, text: text(), options: options(), ...more }),
  });
  if (response.status === 409) return undefined;
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

async function instructionCard(line) {
  try {
    return (await ask("card", { line }))?.card;
  } catch {
    return undefined; // the figure says it
  }
}

let waiting;
function soon() {
  clearTimeout(waiting);
  editor.dom.classList.add("stale");
  element("figure").classList.add("waiting");
  if (element("figure").textContent === "") element("figure").append("Simulating ...");
  waiting = setTimeout(analyse, TYPING);
}

/** `again`: retry once, as an earlier question that arrived late may have superseded this one. */
async function analyse(again = true) {
  clearTimeout(waiting);
  const number = ++asked;
  remember();
  let answer;
  try {
    answer = await ask("analysis");
  } catch (error) {
    if (number === asked) say(`No answer: ${error.message}. Is cyclelens serve still running?`);
    return;
  }
  if (number !== asked) return;
  if (answer === undefined) return again ? analyse(false) : undefined;
  regions = answer.regions;
  if (!regions.some((region) => region.name === shownRegion)) shownRegion = regions[0]?.name ?? "";
  showInText(answer);
  showProblems(answer.problems);
  showFigure();
  await showView();
}

// -- answers -------------------------------------------------------------------------------------------------

function showInText({ hints, problems }) {
  const widgets = hints.map((hint) =>
    Decoration.widget({ widget: new HintWidget(hint), side: 1 }).range(position(hint.line, hint.column)));
  const diagnostics = problems.filter((problem) => problem.line >= 0).map((problem) => ({
    from: position(problem.line, problem.column),
    to: position(problem.line, Math.max(problem.end_column, problem.column + 1)),
    severity: SEVERITIES[problem.severity],
    message: `${problem.message} [${problem.code}]`,
  }));
  editor.dispatch({ effects: setHints.of(Decoration.set(widgets, true)) });
  editor.dispatch(setDiagnostics(editor.state, diagnostics));
  editor.dom.classList.remove("stale");
}

function made(name, content = "", properties = {}) {
  const node = Object.assign(document.createElement(name), properties);
  node.append(content);
  return node;
}

function showProblems(problems) {
  element("problems").replaceChildren(...problems.map((problem) => {
    const place = problem.line < 0 ? "" : `line ${problem.line + 1}: `;
    const item = made("li", `${place}${problem.message}`, { className: problem.severity });
    item.addEventListener("click", () => goTo(problem.line));
    return item;
  }));
}

function say(sentence) {
  element("figure").className = "none";
  element("figure").replaceChildren(sentence);
}

function showFigure() {
  const region = regions.find((one) => one.name === shownRegion);
  const figure = element("figure");
  if (region === undefined) {
    if (text().trim() === "") return say("Paste a loop, or choose an example.");
    const isCode = isMachineCode();
    say(isCode ? "This looks like machine code. " : "No loop was found, and no region is marked. ");
    const button = made("button", isCode ? "Read it as instructions" : "Treat the whole text as a region");
    button.addEventListener("click", isCode ? readCode : markAll);
    figure.append(button);
  } else if (region.figures.length === 0) {
    say(`No figure: ${region.note}`);
  } else {
    figure.className = "";
    figure.replaceChildren(...region.figures.map((one) => made("div", one.headline)));
  }
  const buttons = regions.length < 2 ? [] : regions.map((one) => {
    const first = one.figures[0]?.figure;
    const button = made("button", first === undefined ? one.name : `${one.name}: ${first}`);
    button.setAttribute("aria-pressed", one.name === shownRegion);
    button.addEventListener("click", () => {
      shownRegion = one.name;
      showFigure();
      goTo(one.first_line);
      showView();
    });
    return button;
  });
  element("regions").replaceChildren(...buttons);
}

/** Is the text nothing but bytes in hexadecimal, as `cyclelens analyze --hex` reads them? */
function isMachineCode() {
  const words = text().replace(/(#|;|\/\/).*/g, "").split(/\\x|[\s,]+/).filter((word) => word !== "");
  return words.length > 0 && words.every((word) => word.length % 2 === 0 && /^(0x)?[0-9a-f]+h?$/i.test(word));
}

function markAll() {
  setText(`${BEGIN}\n${text().replace(/\n*$/, "\n")}${END}\n`);
}

async function readCode() {
  try {
    const answer = await ask("instructions");
    if (answer?.problem) say(`This is not machine code: ${answer.problem}`);
    else if (answer) setText(answer.text);
  } catch (error) {
    say(`No answer: ${error.message}`);
  }
}

// -- views ---------------------------------------------------------------------------------------------------

async function showView() {
  for (const tab of element("tabs").children) tab.setAttribute("aria-pressed", tab.dataset.view === view);
  const place = element("view");
  const region = regions.find((one) => one.name === shownRegion);
  if (region === undefined) return place.replaceChildren();
  const [number, kind] = [asked, view];
  place.classList.add("waiting");
  try {
    const answer = await (kind === "rewrites" ? ask(kind, { region: region.name }) : ask("comparison", { kind, region: region.name }));
    if (answer === undefined || number !== asked || kind !== view) return;
    if (kind === "rewrites") showRewrites(place, answer.rewrites);
    else if (kind === "microarchitectures") showCPUs(place, answer);
    else if (kind === "sensitivity") showTable(place, answer, answer.text.split("\n")[1]);
    else if (kind === "tools") showTable(place, answer, "The same instructions, predicted by the tools installed on this machine.");
    else if (answer.page === null) place.replaceChildren(made("pre", answer.text));
    else showReport(place, answer);
  } catch (error) {
    place.replaceChildren(made("p", `No answer: ${error.message}`));
  }
  place.classList.remove("waiting");
}

function showReport(place, answer) {
  const frame = made("iframe", "", { title: answer.title });
  frame.setAttribute("sandbox", "allow-scripts");
  frame.src = `reports/${answer.page}#beside-its-figure`;
  place.replaceChildren(frame);
}

/** Decimals of a column: cycles per element or byte are small. */
const digitsOf = (column) => column.startsWith("cycles/") && column !== "cycles/iter" ? 3 : 2;

/** One row per CPU; a click selects it, a tick compares the selected one with it. */
function showCPUs(place, { columns, rows }) {
  const figures = columns.indexOf("cycles/iter");
  const most = Math.max(...rows.map((row) => row[figures] ?? 0));
  const head = made("tr");
  head.append(made("td", "", { title: "Compare" }), ...columns.map((column) => made("th", column)), made("td"));
  const body = rows.map((row) => {
    const line = made("tr", "", { className: "choice", title: `Show ${row[0]}` });
    line.dataset.cpu = row[0];
    if (row[0] === first()) line.classList.add("chosen");
    const tick = made("input", "", { type: "checkbox", checked: row[0] === first() || beside().includes(row[0]) });
    tick.setAttribute("aria-label", `compare with ${row[0]}`);
    tick.disabled = row[0] === first();
    tick.addEventListener("change", () => putBeside(row[0], tick.checked));
    const cell = made("td", tick);
    cell.addEventListener("click", (event) => event.stopPropagation());
    line.append(cell, ...row.map((value, column) => {
      const shown = typeof value === "number" ? value.toFixed(digitsOf(columns[column])) : value ?? "-";
      return made("td", shown, { className: typeof value === "number" ? "number" : "" });
    }));
    const bar = made("div");
    bar.style.width = `${(100 * (row[figures] ?? 0)) / (most || 1)}%`;
    line.append(made("td", bar, { className: "bar" }));
    line.addEventListener("click", () => choose("microarchitectures", row[0]));
    return line;
  });
  const table = made("table");
  table.append(head, ...body);
  place.replaceChildren(table);
}

/** A table without clickable rows, below a sentence about it. */
function showTable(place, { columns, rows, text: said }, sentence) {
  if (rows.length === 0) return place.replaceChildren(made("pre", said));
  const head = made("tr");
  head.append(...columns.map((column) => made("th", column)));
  const table = made("table");
  table.append(head, ...rows.map((row) => {
    const line = made("tr");
    line.append(...row.map((value, column) => typeof value === "number"
      ? made("td", value.toFixed(digitsOf(columns[column])), { className: "number" }) : made("td", value ?? "-")));
    return line;
  }));
  place.replaceChildren(made("p", sentence), table);
}

function showRewrites(place, rewrites) {
  place.replaceChildren(...rewrites.map((rewrite) => {
    const gain = `${rewrite.gain.replace("->", "→")}${rewrite.where}`;
    const apply = made("button", "Apply");
    apply.addEventListener("click", () => setText(rewrite.text));
    const box = made("div", apply, { className: "rewrite" });
    box.append(made("b", gain), ` ${rewrite.microarchitecture}, ${rewrite.region}: ${rewrite.title}`);
    return box;
  }));
  if (rewrites.length === 0) place.replaceChildren(made("p", "No known rewrite makes this faster."));
}

// The report says which of its rows was clicked.
window.addEventListener("message", (event) => {
  const frame = element("view").querySelector("iframe");
  if (frame && event.source === frame.contentWindow && Number.isInteger(event.data?.line)) goTo(event.data.line - 1);
});

// -- choices and links ---------------------------------------------------------------------------------------

function choose(name, value) {
  element(name).value = value;
  showBeside();
  showOptions();
  analyse();
}

/** The CPU whose figures the text shows. */
const first = () => element("microarchitectures").value || (regions[0]?.figures[0]?.microarchitecture ?? cores.find((core) => core.by_default).name);

const ticks = () => [...element("beside").querySelectorAll("input")];

/** The CPUs to compare with. */
const beside = () => ticks().filter((tick) => tick.checked && tick.value !== first()).map((tick) => tick.value);

function putBeside(name, chosen) {
  element("microarchitectures").value = first();
  for (const tick of ticks()) if (tick.value === name) tick.checked = chosen;
  showBeside();
  analyse();
}

function showBeside() {
  const names = beside();
  element("beside").querySelector("summary").textContent = names.length ? `with ${names.join(", ")}` : "compare with";
  for (const tick of ticks()) tick.disabled = tick.value === first();
}

/** The summary of the options says which ones are not at their default. */
function showOptions() {
  const chosen = [...element("options").querySelectorAll("select")].filter((one) => one.selectedIndex > 0);
  const words = chosen.map((one) => `${one.parentElement.firstChild.textContent.trim().toLowerCase()} ${one.selectedOptions[0].text}`);
  element("options").querySelector("summary").textContent = words.length ? `options: ${words.join(", ")}` : "options";
}

let remembered = "";

/** Keep text and settings in the address, so that they survive a reload and can be copied. */
async function remember() {
  const number = asked;
  const hash = `#${await packed({ text: text(), options: options() })}`;
  if (number !== asked) return;
  remembered = hash;
  window.history.replaceState(null, "", hash);
}

async function open(hash) {
  if (hash.length < 2) return setText(Object.values(EXAMPLES)[0]);
  try {
    const kept = await unpacked(hash);
    for (const name of CHOICES) {
      const value = [kept.options?.[name]].flat()[0];
      element(name).value = value === undefined ? element(name).options[0].value : (FORMER[value] ?? String(value));
      if (element(name).selectedIndex < 0) element(name).selectedIndex = 0;
    }
    const names = kept.options?.microarchitectures ?? [];
    for (const tick of ticks()) tick.checked = names.includes(tick.value);
    setText(String(kept.text));
    showBeside();
    showOptions();
    analyse();
  } catch (error) {
    say(`The link cannot be read: ${error.message}`);
  }
}

element("share").addEventListener("click", async () => {
  await remember();
  const button = element("share");
  try {
    await navigator.clipboard.writeText(location.href);
    button.textContent = "Copied";
  } catch {
    button.textContent = "See the address bar";
  }
  setTimeout(() => (button.textContent = "Copy link"), 2000);
});
window.addEventListener("hashchange", () => location.hash !== remembered && open(location.hash));

for (const name of CHOICES) element(name).addEventListener("change", () => choose(name, element(name).value));
element("save").addEventListener("change", async (event) => {
  const format = event.target.value;
  event.target.selectedIndex = 0;
  try {
    const answer = await ask("report", { format });
    if (answer === undefined) return;
    const link = made("a", "", { download: `kernel.${SUFFIXES[format]}` });
    link.href = URL.createObjectURL(new Blob([answer.report]));
    link.click();
    URL.revokeObjectURL(link.href);
  } catch (error) {
    say(`The report was not saved: ${error.message}`);
  }
});
// A click elsewhere closes the lists in the header, and so does Escape.
const lists = [element("beside"), element("options")];
document.addEventListener("click", (event) => {
  for (const list of lists) if (!list.contains(event.target)) list.open = false;
});
for (const list of lists) {
  list.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    list.open = false;
    list.querySelector("summary").focus();
  });
}
for (const tab of element("tabs").children) {
  tab.addEventListener("click", () => {
    view = tab.dataset.view;
    showView();
  });
}
element("examples").append(...Object.keys(EXAMPLES).map((name) => made("option", name)));
element("examples").addEventListener("change", (event) => {
  if (EXAMPLES[event.target.value]) setText(EXAMPLES[event.target.value]);
  event.target.selectedIndex = 0;
});
element("alignment").append(
  made("option", "where the text puts it", { value: "" }),
  ...Array.from({ length: 64 }, (_, offset) => made("option", `${offset}`, { value: `${offset}` })));

element("microarchitectures").append(
  made("option", `as marked, else ${cores.find((core) => core.by_default).name}`, { value: "" }),
  ...cores.map((core) => made("option", `${core.name} · ${core.title}`, { value: core.name, title: core.products })));
element("beside").querySelector("fieldset").append(...cores.map((core) => {
  const tick = made("input", "", { type: "checkbox", value: core.name });
  tick.addEventListener("change", () => putBeside(core.name, tick.checked));
  const label = made("label", tick, { title: core.products });
  label.append(` ${core.name} · ${core.title}`);
  return label;
}));
await open(location.hash);
