// Runs inside the panel: draws every uop as a row and every cycle as a column.
// Arrow keys move the cursor, + and - zoom, the line below tells what the uop waited for.

interface Timeline {
  microarchitecture: string;
  cyclesPerIteration: number;
  instructions: string[];
  columns: string[];
  rows: (string | number | null)[][];
}

type Row = Record<string, string | number | null>;

/** In the order in which a later event hides an earlier one. */
const STAGES: [letter: string, column: string, words: string][] = [
  ["P", "predecoded", "predecoded"],
  ["Q", "added_to_idq", "added to the IDQ"],
  ["I", "issued", "issued"],
  ["r", "ready", "ready"],
  ["D", "dispatched", "dispatched"],
  ["E", "executed", "executed"],
  ["R", "retired", "retired"],
];

const MAX_CYCLES = 400;

function cycle(row: Row, column: string): number | undefined {
  const value = row[column];
  return typeof value === "number" ? value : undefined;
}

/** What the time between the stages of a uop was spent on, in words. */
function waits(row: Row): string {
  const parts = STAGES.flatMap(([, column, words]) => {
    const at = cycle(row, column);
    return at === undefined ? [] : [`${words} ${at}`];
  });
  const [issued, ready, dispatched, executed, retired] = ["issued", "ready", "dispatched", "executed", "retired"].map(
    (column) => cycle(row, column),
  );
  const why = [];
  if (issued !== undefined && ready !== undefined && ready > issued) {
    why.push(`${ready - issued} cycles for its operands`);
  }
  if (ready !== undefined && dispatched !== undefined && dispatched > ready) {
    why.push(`${dispatched - ready} cycles for port ${row.port}`);
  }
  if (executed !== undefined && retired !== undefined && retired > executed) {
    why.push(`${retired - executed} cycles for earlier uops to retire`);
  }
  return parts.join(", ") + (why.length ? `. Waited ${why.join(", ")}.` : ".");
}

function draw(timeline: Timeline, parent: HTMLElement): void {
  const rows: Row[] = timeline.rows.map((values) =>
    Object.fromEntries(timeline.columns.map((column, index) => [column, values[index]])),
  );
  const last = Math.max(0, ...rows.flatMap((row) => STAGES.map(([, column]) => cycle(row, column) ?? 0)));
  const cycles = Math.min(last + 1, MAX_CYCLES);

  const heading = document.createElement("h2");
  heading.textContent = `${timeline.microarchitecture}: ${timeline.cyclesPerIteration.toFixed(2)} cycles/iter`;
  const status = document.createElement("p");
  status.setAttribute("role", "status");
  status.textContent = "Arrow keys move, + and - zoom.";
  const scroller = document.createElement("div");
  scroller.className = "scroller";
  const table = document.createElement("table");
  table.className = "timeline";
  table.setAttribute("role", "grid");

  const ruler = table.createTHead().insertRow();
  for (const text of ["round", "instruction", "port"]) {
    ruler.append(Object.assign(document.createElement("th"), { textContent: text }));
  }
  for (let at = 0; at < cycles; at++) {
    const text = at % 5 ? "" : String(at);
    ruler.append(Object.assign(document.createElement("th"), { textContent: text, className: "cycle" }));
  }

  const body = table.createTBody();
  let previous: Row | undefined;
  for (const row of rows) {
    const line = body.insertRow();
    line.tabIndex = -1;
    const fresh = !previous || previous.round !== row.round;
    const same = !fresh && previous?.instruction === row.instruction && previous?.kind === row.kind;
    line.insertCell().textContent = fresh ? String(row.round) : "";
    const names: Record<string, string> = { sync: "(stack sync)", merge: "(register merge)" };
    const name = names[String(row.kind)] ?? timeline.instructions[Number(row.instruction)] ?? "";
    line.insertCell().textContent = same ? "" : name;
    line.insertCell().textContent = row.port ? `p${row.port}` : "";
    const letters = new Map<number, string>();
    for (const [letter, column] of STAGES) {
      const at = cycle(row, column);
      if (at !== undefined) {
        letters.set(at, letter);
      }
    }
    const from = cycle(row, "issued") ?? Infinity;
    const to = cycle(row, "retired") ?? last;
    for (let at = 0; at < cycles; at++) {
      const cell = line.insertCell();
      const letter = letters.get(at);
      cell.textContent = letter ?? "";
      cell.className = letter ? `stage ${letter}` : at > from && at < to ? "stage flight" : "";
    }
    const tell = () => {
      status.textContent = `${name}: ${waits(row)}`;
    };
    line.addEventListener("mouseenter", tell);
    line.addEventListener("focus", tell);
    previous = row;
  }

  let zoom = 1;
  scroller.addEventListener("keydown", (event) => {
    const focused = document.activeElement?.closest("tbody tr") as HTMLTableRowElement | null;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      const next = focused ? body.rows[focused.sectionRowIndex + step] : body.rows[0];
      next?.focus();
    } else if (event.key === "+" || event.key === "-") {
      zoom = Math.min(3, Math.max(0.4, zoom * (event.key === "+" ? 1.2 : 1 / 1.2)));
      // Through the object model, which the content security policy allows; a style attribute it does not.
      table.style.fontSize = `${zoom}em`;
    } else {
      return;
    }
    event.preventDefault();
  });
  if (body.rows.length) {
    body.rows[0].tabIndex = 0;
  }
  scroller.append(table);
  parent.append(heading, status, scroller);
  if (last + 1 > cycles) {
    parent.append(Object.assign(document.createElement("p"), { textContent: `Cut after cycle ${cycles - 1}.` }));
  }
}

const main = document.getElementById("timeline");
if (main) {
  for (const timeline of JSON.parse(main.dataset.timelines ?? "[]") as Timeline[]) {
    draw(timeline, main);
  }
}
