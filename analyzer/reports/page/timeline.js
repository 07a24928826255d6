// The timeline of an HTML report: uops by cycles, ports, buffers. The data were
// computed before; this script draws only the visible part, so that long regions stay fast.
"use strict";

(() => {
  /** The host of this page, if there is one: VS Code, or the surrounding page of `cyclelens serve`. */
  const around = window.parent === window ? undefined : { postMessage: (said) => window.parent.postMessage(said, "*") };
  // The page of `cyclelens serve` shows region and figure above this one.
  if (location.hash === "#beside-its-figure") document.body.classList.add("beside");
  const shower = typeof acquireVsCodeApi === "function" ? acquireVsCodeApi() : around;

  /** Fields of a row. */
  const ROUND = 0, INSTRUCTION = 1, KIND = 2, PORT = 3, ALLOWED = 4, SOURCE = 5, FIRST_EVENT = 6;
  const [PREDECODED, ADDED, ISSUED, READY, DISPATCHED, EXECUTED, RETIRED] = [6, 7, 8, 9, 10, 11, 12];
  /** What the time from an event to the next one is spent on, by event. */
  const SPANS = ["front", "queue", "inputs", "port", "execution", "done"];
  const LEGEND = ["front", "queue", "delay", "inputs", "port", "execution", "done"];
  const SPAN_WORDS = {
    front: "front end", queue: "waits for issue", delay: "on its way", inputs: "waits for inputs", port: "waits for its port",
    execution: "executes", done: "waits to retire",
  };

  const RULER = 30, LANE = 16, CHART = 34, GAP = 6, MOST_CELL = 30, LEAST_CELL = 0.5, LETTERS = 8, PORTS = 44;

  const element = (tag, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  };

  const cycles = (count) => `${count} cycle${count === 1 ? "" : "s"}`;

  class Timeline {
    constructor(host, data) {
      this.host = host;
      this.data = data;
      this.rows = data.rows;
      this.cell = 13;
      this.selected = -1;
      this.pointed = undefined;
      this.chain = data.chainLimits;
      this.follow = true;
      this.history = [];
      this.onChain = new Set(data.chain.flat());
      this.chainInto = new Map();
      for (const [producer, consumer] of data.chain) {
        this.chainInto.set(consumer, [...(this.chainInto.get(consumer) ?? []), producer]);
      }
      this.firstOfRound = [];
      this.rows.forEach((row, number) => (this.firstOfRound[row[ROUND]] ??= number));
      this.build();
      this.readColours();
      this.resize();
      this.goToRound(this.rows[data.steady]?.[ROUND], false);
    }

    // -- parts -------------------------------------------------------------------------------------------

    build() {
      const button = (text, title, action) => {
        const made = element("button", { type: "button", textContent: text, title });
        made.setAttribute("aria-label", title);
        made.addEventListener("click", () => { action(); this.scroller.focus(); });
        return made;
      };
      const toggle = (text, on, action) => {
        const box = element("input", { type: "checkbox", checked: on });
        box.addEventListener("change", () => { action(box.checked); this.draw(); });
        return element("label", {}, box, ` ${text}`);
      };
      this.round = element("input", {
        type: "number", min: "0", max: String(this.firstOfRound.length - 1),
      });
      this.round.setAttribute("aria-label", "iteration");
      this.round.addEventListener("change", () => this.goToRound(Number(this.round.value)));
      const legend = element("span", { className: "legend" });
      for (const span of LEGEND) {
        legend.append(element("span", {}, element("span", { className: `swatch ${span}` }), this.data.spans[span] ?? SPAN_WORDS[span]), " ");
      }
      const bar = element("div", { className: "bar" },
        button("−", "Zoom out (-)", () => this.zoom(1 / 1.3)),
        button("+", "Zoom in (+)", () => this.zoom(1.3)),
        button("Fit", "Fit the whole timeline (0)", () => this.fit()),
        button("◀", "Previous iteration (Page Up)", () => this.stepRound(-1)),
        element("span", {}, "iteration ", this.round, ` of ${this.firstOfRound.length}`),
        button("▶", "Next iteration (Page Down)", () => this.stepRound(1)),
        toggle("critical chain", this.chain, (on) => (this.chain = on)),
        toggle("follow", true, (on) => (this.follow = on)),
        legend);
      bar.setAttribute("role", "toolbar");
      bar.setAttribute("aria-label", "timeline");

      this.canvas = element("canvas");
      this.spacer = element("div", { className: "spacer" });
      this.scroller = element("div", { className: "view", tabIndex: 0 }, this.canvas, this.spacer);
      this.scroller.setAttribute("role", "application");
      this.scroller.setAttribute("aria-roledescription", "timeline");
      this.scroller.setAttribute("aria-label",
        `${this.rows.length} uops by cycle. Up and Down choose a uop, Page Up and Page Down the iteration, ` +
        "Enter goes to the uop that it waited for, Backspace goes back, O shows its line, plus and minus zoom.");
      this.detail = element("div", { className: "detail" });
      this.detail.setAttribute("role", "status");
      this.tip = element("div", { className: "tip", hidden: true });
      this.tip.setAttribute("aria-hidden", "true");
      this.host.replaceChildren(bar, this.scroller, this.detail, this.tip);
      // Some uops always stay visible above the ports and buffers.
      this.scroller.style.minHeight = `${RULER + this.foot + 180}px`;
      this.describe();

      this.top = 0;
      this.scroller.addEventListener("scroll", () => this.scrolled());
      this.scroller.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
      this.scroller.addEventListener("keydown", (event) => this.key(event));
      this.scroller.addEventListener("pointermove", (event) => this.point(event));
      this.scroller.addEventListener("pointerleave", () => this.leave());
      this.scroller.addEventListener("click", (event) => this.click(event));
      this.scroller.addEventListener("dblclick", (event) => {
        const at = this.locate(event);
        if (at.row >= 0) this.reveal(at.row);
      });
      this.scroller.addEventListener("focus", () => this.draw());
      this.scroller.addEventListener("blur", () => this.draw());
      new ResizeObserver(() => this.resize()).observe(this.scroller);
      window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.recolour());
      new MutationObserver(() => this.recolour()).observe(document.body, { attributeFilter: ["class"] });
    }

    recolour() {
      this.readColours();
      this.draw();
    }

    readColours() {
      const style = getComputedStyle(this.host);
      this.colour = (name) => style.getPropertyValue(`--${name}`).trim();
      this.palette = Object.fromEntries(
        ["background", "text", "muted", "line", "band", "select", "chain", "accent", "used", "used-other", "full", ...LEGEND]
          .map((name) => [name, this.colour(name)]));
      this.font = `12px ${this.colour("mono") || "monospace"}`;
    }

    // -- places ------------------------------------------------------------------------------------------

    get rowHeight() { return this.cell >= LETTERS ? 18 : Math.max(2, this.cell * 2); }
    get foot() {
      return GAP + this.data.ports.length * LANE + (this.data.occupancy.length * (CHART + GAP)) + 2;
    }
    get tall() { return this.height - RULER - this.foot; }
    /** Whether there is no room for the column of ports; the tip and the details below have the port, too. */
    get narrow() { return this.labelWidth > this.width * 0.45; }
    get labels() {
      return this.narrow ? Math.min(this.labelWidth - PORTS, Math.max(120, this.width * 0.55)) : this.labelWidth;
    }
    x(cycle) { return this.labels + cycle * this.cell - this.scroller.scrollLeft; }
    y(row) { return RULER + row * this.rowHeight - this.scroller.scrollTop; }
    cycleAt(x) { return Math.floor((x - this.labels + this.scroller.scrollLeft) / this.cell); }

    resize() {
      const scale = window.devicePixelRatio || 1;
      this.width = this.scroller.clientWidth;
      this.height = this.scroller.clientHeight;
      if (!this.width || !this.height) return;
      this.canvas.width = Math.round(this.width * scale);
      this.canvas.height = Math.round(this.height * scale);
      this.canvas.style.width = `${this.width}px`;
      this.canvas.style.height = `${this.height}px`;
      this.context = this.canvas.getContext("2d");
      this.context.setTransform(scale, 0, 0, scale, 0, 0);
      this.context.font = this.font;
      const longest = this.data.instructions.reduce((most, one) => (one.text.length > most.length ? one.text : most), "");
      this.labelWidth = 34 + PORTS + Math.min(280, this.context.measureText(longest).width) + 12;
      this.measure();
      // Draw immediately: resizing a canvas clears it.
      this.paint();
    }

    /** The size of the scrollable area. */
    measure() {
      // The canvas stays in view: it takes part of the height that the spacer stands for.
      this.spacer.style.width = `${this.labels + this.data.cycles * this.cell + 20}px`;
      this.spacer.style.height = `${Math.max(0, RULER + this.rows.length * this.rowHeight + this.foot - this.height)}px`;
      this.draw();
    }

    firstCycle(number) {
      const row = this.rows[number];
      for (let field = ADDED; field <= RETIRED; field++) {
        if (row[field] !== null) return row[field];
      }
      return row[PREDECODED] ?? 0;
    }

    /** Uops retire in order, so this never decreases. */
    lastCycle(number) {
      // The second half of a fused pair retires with the first.
      const row = this.rows[number][KIND] === 3 && number ? this.rows[number - 1] : this.rows[number];
      return row[RETIRED] ?? this.data.cycles;
    }

    scrolled() {
      const { scrollTop } = this.scroller;
      if (this.follow && !this.jumping && scrollTop !== this.top) {
        // Uops run along the diagonal: stay beside the one at the top.
        const at = (top) => this.lastCycle(Math.min(this.rows.length - 1, Math.floor(top / this.rowHeight)));
        this.scroller.scrollLeft += (at(scrollTop) - at(this.top)) * this.cell;
      }
      this.top = scrollTop;
      this.jumping = false;
      this.draw();
    }

    scrollTo(left, top) {
      this.jumping = true;
      this.scroller.scrollTo(left, top);
      this.top = this.scroller.scrollTop;
      this.draw();
    }

    /** Scroll a uop and its events into view. */
    show(number) {
      const row = this.rows[number];
      let { scrollLeft, scrollTop } = this.scroller;
      const top = number * this.rowHeight;
      if (top < scrollTop || top + this.rowHeight > scrollTop + this.tall) {
        scrollTop = top - this.tall / 2;
      }
      const from = (this.firstCycle(number)) * this.cell;
      const to = ((row[RETIRED] ?? row[ISSUED] ?? 0) + 1) * this.cell;
      const room = this.width - this.labels;
      if (from < scrollLeft || to > scrollLeft + room) {
        scrollLeft = to - from < room ? (from + to) / 2 - room / 2 : from - 2 * this.cell;
      }
      this.scrollTo(scrollLeft, scrollTop);
    }

    zoom(factor, x = this.labels + (this.width - this.labels) / 2, y = RULER + this.tall / 2) {
      const cycle = (x - this.labels + this.scroller.scrollLeft) / this.cell;
      const row = (y - RULER + this.scroller.scrollTop) / this.rowHeight;
      this.cell = Math.min(MOST_CELL, Math.max(LEAST_CELL, this.cell * factor));
      this.measure();
      this.scrollTo(cycle * this.cell - (x - this.labels), row * this.rowHeight - (y - RULER));
    }

    fit() {
      this.cell = Math.min(MOST_CELL, Math.max(LEAST_CELL, (this.width - this.labels - 20) / this.data.cycles));
      this.measure();
      this.scrollTo(0, 0);
    }

    goToRound(round, choose = true) {
      const number = Math.min(this.firstOfRound.length - 1, Math.max(0, Math.round(round) || 0));
      const first = this.firstOfRound[number];
      if (first === undefined) return;
      this.round.value = String(number);
      // From its first event if its end fits too; otherwise show its end and the uops below.
      const lastOf = (row) => this.lastCycle(Math.min(row, this.rows.length) - 1);
      const room = (this.width - this.labels) / this.cell;
      const end = lastOf(this.firstOfRound[number + 1] ?? this.rows.length);
      const below = lastOf(first + Math.ceil(this.tall / this.rowHeight)) - 0.95 * room;
      const left = Math.floor(Math.min(end - 0.3 * room, Math.max(end - 0.8 * room, below)));
      this.scrollTo(Math.max(this.firstCycle(first) - 2, left) * this.cell, first * this.rowHeight);
      if (choose) this.select(first, false);
    }

    stepRound(step) {
      const now = this.selected >= 0 ? this.rows[this.selected][ROUND] : Number(this.round.value);
      this.goToRound(now + step);
    }

    // -- input -------------------------------------------------------------------------------------------

    wheel(event) {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const box = this.scroller.getBoundingClientRect();
      this.zoom(event.deltaY < 0 ? 1.15 : 1 / 1.15, event.clientX - box.left, event.clientY - box.top);
    }

    key(event) {
      const page = Math.max(1, Math.floor((this.width - this.labels) / this.cell / 4)) * this.cell;
      const actions = {
        ArrowDown: () => this.select(Math.min(this.rows.length - 1, this.selected + 1)),
        ArrowUp: () => this.select(Math.max(0, this.selected - 1)),
        ArrowLeft: () => this.scrollTo(this.scroller.scrollLeft - page, this.scroller.scrollTop),
        ArrowRight: () => this.scrollTo(this.scroller.scrollLeft + page, this.scroller.scrollTop),
        Home: () => this.select(0),
        End: () => this.select(this.rows.length - 1),
        PageDown: () => this.stepRound(1),
        PageUp: () => this.stepRound(-1),
        "+": () => this.zoom(1.3),
        "=": () => this.zoom(1.3),
        "-": () => this.zoom(1 / 1.3),
        "0": () => this.fit(),
        Enter: () => this.goToCause(),
        Backspace: () => this.back(),
        Escape: () => this.select(-1),
        o: () => this.selected >= 0 && this.reveal(this.selected),
      };
      const action = actions[event.key];
      if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      action();
    }

    /** The item under the pointer. */
    locate(event) {
      const box = this.scroller.getBoundingClientRect();
      const x = event.clientX - box.left, y = event.clientY - box.top;
      const at = { x, y, row: -1, cycle: x >= this.labels ? this.cycleAt(x) : -1, lane: -1 };
      const feet = RULER + this.tall + GAP;
      if (y >= RULER && y < RULER + this.tall) {
        const row = Math.floor((y - RULER + this.scroller.scrollTop) / this.rowHeight);
        if (row < this.rows.length) at.row = row;
      } else if (y >= feet && y < feet + this.data.ports.length * LANE) {
        at.lane = Math.floor((y - feet) / LANE);
        const taken = this.data.lanes[at.lane].get(at.cycle);
        if (taken !== undefined) at.taken = taken;
      }
      return at;
    }

    point(event) {
      const at = this.locate(event);
      this.pointed = at;
      this.draw();
      const words = this.tipWords(at);
      this.tip.hidden = words.length === 0;
      if (words.length) {
        this.tip.replaceChildren(...words.map((text, position) =>
          element("div", { textContent: text, className: position ? "" : "head" })));
        const box = this.host.getBoundingClientRect();
        const left = Math.min(event.clientX - box.left + 14, box.width - this.tip.offsetWidth - 4);
        this.tip.style.left = `${Math.max(0, left)}px`;
        this.tip.style.top = `${event.clientY - box.top + 18}px`;
      }
    }

    leave() {
      this.pointed = undefined;
      this.tip.hidden = true;
      this.draw();
    }

    click(event) {
      const at = this.locate(event);
      if (at.row >= 0) {
        this.select(at.row, false);
        if (at.x < this.labels) this.reveal(at.row);
      } else if (at.taken !== undefined && at.taken < this.rows.length) {
        this.select(at.taken);
      }
    }

    select(number, move = true) {
      this.selected = number;
      if (number >= 0) {
        this.round.value = String(this.rows[number][ROUND]);
        if (move) this.show(number);
      }
      this.describe();
      this.draw();
    }

    /** Select the instruction of a line of the text in the visible iteration, without scrolling. */
    showLine(line) {
      const fits = (number) => this.data.instructions[this.rows[number]?.[INSTRUCTION]]?.line === line;
      if (fits(this.selected)) return;
      const first = this.firstOfRound[Number(this.round.value)] ?? 0;
      for (let number = first; number < this.rows.length && this.rows[number][ROUND] === this.rows[first][ROUND]; number++) {
        if (fits(number)) return this.select(number, false);
      }
    }

    /** Go to the uop that the selected one waited for longest. */
    goToCause() {
      const causes = this.waits(this.selected).filter(([, , , uop]) => uop >= 0 && uop < this.rows.length);
      if (!causes.length) return;
      const longest = causes.reduce((most, wait) => (wait[1] - wait[0] > most[1] - most[0] ? wait : most));
      this.history.push(this.selected);
      this.select(longest[3]);
    }

    back() {
      const last = this.history.pop();
      if (last !== undefined) this.select(last);
    }

    reveal(number) {
      const instruction = this.rows[number][INSTRUCTION];
      revealInstruction(this.host, instruction, this.data.instructions[instruction].line);
    }

    // -- words -------------------------------------------------------------------------------------------

    waits(number) { return number >= 0 ? this.data.waits[number] : []; }

    name(number) {
      const row = this.rows[number] ?? this.data.later[number];
      const kind = ["", "stack sync before ", "register merge before ", ""][row[KIND] ?? 0];
      return `${kind}${this.data.instructions[row[INSTRUCTION]].text}`;
    }

    nameOfOther(number, reader) {
      const row = this.rows[number] ?? this.data.later[number];
      const distance = this.rows[reader][ROUND] - row[ROUND];
      const when = distance === 0 ? "" : distance === 1 ? " (previous iteration)" : ` (iteration ${row[ROUND]})`;
      return this.name(number) + when;
    }

    /** A cause as pieces of text, so that a uop's name can become a button. */
    sentence([, , cause, uop, value], reader) {
      return this.data.causes[cause].split(/(\{uop\}|\{value\})/).map((piece) =>
        piece === "{uop}" ? { uop, text: uop >= 0 ? this.nameOfOther(uop, reader) : "an earlier uop" }
          : { text: piece === "{value}" ? this.data.strings[value] || "the previous uop's result" : piece });
    }

    /** The name of an execution unit: Intel's have numbers, others have names. */
    unit(name) {
      return this.data.unitName.replace("{}", name);
    }

    tipWords(at) {
      if (at.row >= 0) {
        const row = this.rows[at.row];
        const words = [`${this.name(at.row)} · iteration ${row[ROUND]}${row[PORT] ? ` · ${this.unit(row[PORT])}` : ""}`];
        const here = this.waits(at.row).filter(([begin, end]) => begin <= at.cycle && at.cycle < end);
        for (const wait of here) {
          words.push(`cycles ${wait[0]} to ${wait[1] - 1}: ${this.sentence(wait, at.row).map((one) => one.text).join("")}`);
        }
        const events = this.data.events.filter((_, event) => row[FIRST_EVENT + event] === at.cycle).map(([, word]) => word);
        if (events.length) words.push(`cycle ${at.cycle}: ${events.join(", ")}`);
        return words;
      }
      if (at.lane >= 0 && at.cycle >= 0) {
        const who = at.taken === undefined ? "free" : `${this.name(at.taken)} · iteration ${(this.rows[at.taken] ?? this.data.later[at.taken])[ROUND]}`;
        return [`${this.unit(this.data.ports[at.lane])}, cycle ${at.cycle}: ${who}`];
      }
      if (at.lane >= 0) {
        const [share, uops] = this.data.busy[at.lane];
        return [`${this.unit(this.data.ports[at.lane])}: busy in ${Math.round(share * 100)} % of the cycles, ${uops.toFixed(2)} uops per iteration`];
      }
      if (at.cycle >= 0 && at.cycle < this.data.cycles && at.y > RULER + this.tall) {
        return [`cycle ${at.cycle}`, ...this.data.occupancy.map((one) => `${one.name}: ${one.counts[at.cycle] ?? 0} of ${one.size}`)];
      }
      return [];
    }

    describe() {
      const number = this.selected;
      if (number < 0) {
        this.detail.replaceChildren(element("p", { className: "muted", textContent:
          "Choose a uop with a click or the arrow keys to see what it waited for. Enter goes to the uop that it waited for, Backspace goes back." }));
        return;
      }
      const row = this.rows[number];
      const instruction = this.data.instructions[row[INSTRUCTION]];
      const line = element("button", { type: "button", className: "link", textContent: instruction.place });
      line.addEventListener("click", () => this.reveal(number));
      const facts = [`iteration ${row[ROUND]}`];
      if (row[SOURCE]) facts.push(`from ${this.data.sources[row[SOURCE]] ?? row[SOURCE]}`);
      if (row[KIND] === 3) facts.push("fused with the previous instruction");
      else if (row[PORT] === "elim") facts.push("eliminated by the renamer");
      else if (row[PORT]) facts.push(`${this.unit(row[PORT])} of ${row[ALLOWED]}`);
      else facts.push(`no ${this.data.unit}`);
      if (this.onChain.has(number)) facts.push("on the critical chain");
      const events = this.data.events.flatMap(([letter, word], event) =>
        row[FIRST_EVENT + event] === null ? [] : [element("span", { title: word }, element("b", { textContent: letter }), ` ${row[FIRST_EVENT + event]}`)]);
      const list = element("ul");
      for (const wait of this.waits(number)) {
        const item = element("li", {}, element("span", { className: "span", textContent: `${wait[0]} to ${wait[1]}` }),
          ` ${cycles(wait[1] - wait[0])} `);
        for (const piece of this.sentence(wait, number)) {
          if (piece.uop !== undefined && piece.uop >= 0 && piece.uop < this.rows.length) {
            const link = element("button", { type: "button", className: "link", textContent: piece.text });
            link.addEventListener("click", () => { this.history.push(number); this.select(piece.uop); this.scroller.focus(); });
            item.append(link);
          } else {
            item.append(piece.text);
          }
        }
        list.append(item);
      }
      this.detail.replaceChildren(
        element("p", {}, element("b", { className: "code", textContent: this.name(number) }), " ", line, ` · ${facts.join(" · ")}`),
        element("p", { className: "events" }, ...events.flatMap((one) => [one, " "])), list);
    }

    // -- drawing -----------------------------------------------------------------------------------------

    draw() {
      if (this.frame || !this.context) return;
      this.frame = requestAnimationFrame(() => {
        this.frame = 0;
        this.paint();
      });
    }

    paint() {
      const { context, palette } = this;
      context.font = this.font;
      context.textBaseline = "middle";
      context.fillStyle = palette.background;
      context.fillRect(0, 0, this.width, this.height);
      const first = Math.max(0, Math.floor(this.scroller.scrollTop / this.rowHeight));
      const last = Math.min(this.rows.length - 1, Math.ceil((this.scroller.scrollTop + this.tall) / this.rowHeight));
      const from = Math.max(0, this.cycleAt(this.labels));
      const to = Math.min(this.data.cycles, this.cycleAt(this.width) + 1);
      this.clip(this.labels, 0, this.width - this.labels, this.height, () => this.paintGrid(from, to));
      this.clip(0, RULER, this.width, this.tall, () => {
        for (let number = first; number <= last; number++) this.paintBand(number);
      });
      this.clip(this.labels, RULER, this.width - this.labels, this.tall, () => {
        for (let number = first; number <= last; number++) this.paintRow(number, from, to);
        if (this.chain) this.paintChain(first, last);
        if (this.selected >= 0) this.paintArrows(this.selected);
      });
      this.clip(0, RULER, this.labels, this.tall, () => this.paintLabels(first, last));
      this.paintRuler(from, to);
      this.paintLanes(from, to);
      this.paintCharts(from, to);
      this.paintCross();
    }

    clip(x, y, width, height, draw) {
      this.context.save();
      this.context.beginPath();
      this.context.rect(x, y, width, height);
      this.context.clip();
      draw();
      this.context.restore();
    }

    /** Cycles between lines: 1, 2, 5, 10 ... so that they do not crowd. */
    get tick() {
      const least = 46 / this.cell;
      let step = 1;
      for (const factor of [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000]) {
        step = factor;
        if (factor >= least) break;
      }
      return step;
    }

    paintGrid(from, to) {
      const { context, palette, tick } = this;
      context.fillStyle = palette.line;
      for (let cycle = from - (from % tick); cycle <= to; cycle += tick) {
        context.fillRect(Math.round(this.x(cycle)), RULER, 1, this.height - RULER);
      }
    }

    paintRuler(from, to) {
      const { context, palette, tick } = this;
      context.fillStyle = palette.background;
      context.fillRect(0, 0, this.width, RULER);
      context.fillStyle = palette.muted;
      context.textAlign = "left";
      context.fillText("iter", 4, RULER / 2);
      context.fillText("instruction", 38, RULER / 2);
      if (!this.narrow) context.fillText(this.data.unit, this.labels - 40, RULER / 2);
      this.clip(this.labels, 0, this.width - this.labels, RULER, () => {
        for (let cycle = from - (from % tick); cycle <= to; cycle += tick) {
          context.fillText(String(cycle), Math.round(this.x(cycle)) + 3, RULER / 2);
        }
      });
      context.fillStyle = palette.line;
      context.fillRect(0, RULER - 1, this.width, 1);
    }

    paintBand(number) {
      const { context, palette } = this;
      const y = this.y(number);
      if (this.rows[number][ROUND] % 2) {
        context.fillStyle = palette.band;
        context.fillRect(0, y, this.width, this.rowHeight);
      }
      if (number === this.selected || (this.pointed && (this.pointed.row === number || this.pointed.taken === number))) {
        context.fillStyle = palette.select;
        context.fillRect(0, y, this.width, this.rowHeight);
      }
      if (this.firstOfRound[this.rows[number][ROUND]] === number) {
        context.fillStyle = palette.muted;
        context.fillRect(0, Math.round(y), this.width, 1);
      }
    }

    paintRow(number, from, to) {
      const { context, palette } = this;
      const row = this.rows[number];
      const y = this.y(number);
      const inset = this.rowHeight > 8 ? 2 : 0;
      const begin = row[PREDECODED] ?? row[ADDED] ?? row[ISSUED];
      if (begin === null || begin > to || (row[RETIRED] !== null && row[RETIRED] < from)) return;
      for (let event = 0; event < SPANS.length; event++) {
        const start = row[FIRST_EVENT + event];
        if (start === null) continue;
        let end = null;
        for (let next = event + 1; next < this.data.events.length && end === null; next++) end = row[FIRST_EVENT + next];
        if (end === null) break;
        const left = Math.max(this.x(start), this.labels - 2), right = Math.min(this.x(end), this.width + 2);
        if (right <= left) continue;
        // Time in the front end is drawn thin: it is long and seldom of interest.
        const thin = (event < 2 || event === 5) && this.rowHeight > 8 ? 5 : inset;
        context.fillStyle = palette[SPANS[event]];
        context.fillRect(left, y + thin, right - left, this.rowHeight - 2 * thin);
      }
      const [delay] = this.waits(number).filter(([, , cause]) => cause === this.data.delay);
      if (delay) {
        context.fillStyle = palette.delay;
        context.fillRect(this.x(delay[0]), y + inset, (delay[1] - delay[0]) * this.cell, this.rowHeight - 2 * inset);
      }
      if (row[RETIRED] !== null) {
        context.fillStyle = palette.done;
        context.fillRect(this.x(row[RETIRED]), y + inset, Math.max(1, this.cell - 1), this.rowHeight - 2 * inset);
      }
      if (this.cell < LETTERS) return;
      context.textAlign = "center";
      const drawn = new Set();
      for (let event = this.data.events.length - 1; event >= 0; event--) {
        const cycle = row[FIRST_EVENT + event];
        if (cycle === null || cycle < from - 1 || cycle > to || drawn.has(cycle)) continue;
        drawn.add(cycle);
        context.fillStyle = palette.text;
        context.fillText(this.data.events[event][0], this.x(cycle) + this.cell / 2, y + this.rowHeight / 2 + 0.5);
      }
    }

    paintLabels(first, last) {
      const { context, palette } = this;
      const letter = context.measureText("m").width;
      for (let number = first; number <= last; number++) {
        const row = this.rows[number];
        const y = this.y(number);
        context.fillStyle = number === this.selected ? palette.select : row[ROUND] % 2 ? palette.band : palette.background;
        context.fillRect(0, y, this.labels, this.rowHeight);
        const begins = this.firstOfRound[row[ROUND]] === number;
        if (begins) {
          context.fillStyle = palette.muted;
          context.fillRect(0, Math.round(y), this.labels, 1);
        }
        if (this.chain && this.onChain.has(number)) {
          context.fillStyle = palette.chain;
          context.fillRect(30, y + 1, 3, this.rowHeight - 2);
        }
        if (this.rowHeight < 12) continue;
        const middle = y + this.rowHeight / 2 + 0.5;
        context.textAlign = "left";
        context.fillStyle = palette.muted;
        if (begins) context.fillText(String(row[ROUND]), 4, middle);
        const before = this.rows[number - 1];
        const same = before && before[ROUND] === row[ROUND] && before[INSTRUCTION] === row[INSTRUCTION] && before[KIND] === row[KIND];
        const text = row[KIND] === 1 ? "(stack sync)" : row[KIND] === 2 ? "(register merge)" : same ? "″" : this.data.instructions[row[INSTRUCTION]].text;
        context.fillStyle = row[KIND] === 3 ? palette.muted : palette.text;
        const room = Math.floor((this.labels - 38 - (this.narrow ? 4 : PORTS)) / letter);
        context.fillText(text.length > room ? `${text.slice(0, room - 1)}…` : text, 38, middle);
        if (this.narrow) continue;
        context.fillStyle = palette.muted;
        const port = row[KIND] === 3 ? "fused" : row[PORT] === "elim" ? "elim." : row[PORT] ? this.data.portPrefix + row[PORT] : "";
        context.fillText(port, this.labels - 40, middle);
      }
      context.fillStyle = palette.line;
      context.fillRect(this.labels - 1, RULER, 1, this.tall);
    }

    arrow(producer, consumer, cycle, colour, width, text) {
      const { context } = this;
      const from = this.rows[producer];
      const x1 = this.x((from[DISPATCHED] ?? from[ISSUED] ?? 0) + 0.5), y1 = this.y(producer) + this.rowHeight / 2;
      const x2 = this.x(cycle + 0.5), y2 = this.y(consumer) + this.rowHeight / 2;
      if (Math.max(y1, y2) < RULER || Math.min(y1, y2) > RULER + this.tall) return;
      context.strokeStyle = context.fillStyle = colour;
      context.lineWidth = width;
      context.beginPath();
      context.moveTo(x1, y1);
      const bend = Math.max(12, Math.abs(x2 - x1) / 2);
      context.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2, y2);
      context.stroke();
      if (this.rowHeight >= 8) {
        context.beginPath();
        context.moveTo(x2 + 1, y2);
        context.lineTo(x2 - 6, y2 - 3.5);
        context.lineTo(x2 - 6, y2 + 3.5);
        context.fill();
      }
      if (text && this.cell >= LETTERS) {
        context.textAlign = "center";
        const size = context.measureText(text).width + 6;
        const x = (x1 + x2) / 2, y = (y1 + y2) / 2;
        context.fillStyle = this.palette.background;
        context.fillRect(x - size / 2, y - 7, size, 14);
        context.fillStyle = colour;
        context.fillText(text, x, y + 0.5);
      }
    }

    paintChain(first, last) {
      for (let number = first; number <= last; number++) {
        for (const producer of this.chainInto.get(number) ?? []) {
          const row = this.rows[number];
          this.arrow(producer, number, row[DISPATCHED] ?? row[READY] ?? 0, this.palette.chain, 1.6);
        }
      }
    }

    paintArrows(number) {
      const { palette } = this;
      const row = this.rows[number];
      const read = this.data.inputs[number];
      const latest = Math.max(...read.map(([, , ready]) => ready ?? -1));
      for (const [producer, value, ready] of read) {
        if (producer < this.rows.length) {
          this.arrow(producer, number, row[READY] ?? row[ISSUED], palette.accent, ready === latest ? 2.4 : 1.2, this.data.strings[value]);
        }
      }
      for (const [consumer, value] of this.readers(number)) {
        const other = this.rows[consumer];
        this.arrow(number, consumer, other[READY] ?? other[ISSUED], palette.muted, 1.2, this.data.strings[value]);
      }
    }

    /** The readers of each uop's results; computed on first use. */
    readers(number) {
      if (!this.reading) {
        this.reading = new Map();
        this.data.inputs.forEach((read, consumer) => {
          for (const [producer, value] of read) {
            if (!this.reading.has(producer)) this.reading.set(producer, []);
            this.reading.get(producer).push([consumer, value]);
          }
        });
      }
      return this.reading.get(number) ?? [];
    }

    paintLanes(from, to) {
      const { context, palette } = this;
      const top = RULER + this.tall;
      context.fillStyle = palette.background;
      context.fillRect(0, top, this.labels, this.foot);
      context.fillStyle = palette.muted;
      context.fillRect(0, top, this.width, 1);
      this.data.lanes.forEach((lane, position) => {
        const y = top + GAP + position * LANE;
        this.clip(this.labels, y, this.width - this.labels, LANE, () => {
          for (let cycle = from; cycle <= to; cycle++) {
            const number = lane.get(cycle);
            if (number === undefined) continue;
            const row = this.rows[number] ?? this.data.later[number];
            const chosen = number === this.selected || this.pointed?.row === number;
            context.fillStyle = chosen ? palette.accent : this.chain && this.onChain.has(number) ? palette.chain : row[ROUND] % 2 ? palette["used-other"] : palette.used;
            context.fillRect(this.x(cycle), y + 2, Math.max(1, this.cell - 1), LANE - 4);
          }
        });
        // The average, as in the report's table: the visible part may not be typical.
        const [share] = this.data.busy[position];
        context.textAlign = "left";
        context.fillStyle = palette.text;
        context.fillText(this.unit(this.data.ports[position]), 38, y + LANE / 2 + 0.5);
        context.fillStyle = palette.muted;
        context.fillText(`${Math.round(share * 100)} %`, this.labels - 40, y + LANE / 2 + 0.5);
      });
    }

    paintCharts(from, to) {
      const { context, palette } = this;
      let y = RULER + this.tall + GAP + this.data.ports.length * LANE + GAP;
      const at = this.pointed && this.pointed.cycle >= 0 ? this.pointed.cycle : undefined;
      for (const one of this.data.occupancy) {
        const height = (count) => (count / one.size) * (CHART - 4);
        this.clip(this.labels, y, this.width - this.labels, CHART, () => {
          for (let cycle = from; cycle <= to; cycle++) {
            const count = one.counts[cycle] ?? 0;
            if (!count || (this.cell < 1 && cycle % Math.round(1 / this.cell))) continue;
            context.fillStyle = count > one.full ? palette.full : palette["used-other"];
            const left = Math.floor(this.x(cycle));
            context.fillRect(left, y + CHART - height(count), Math.max(1, Math.floor(this.x(cycle + 1)) - left), height(count));
          }
          context.fillStyle = palette.muted;
          context.fillRect(this.labels, y + CHART - height(one.size), this.width, 1);
          context.fillRect(this.labels, y + CHART, this.width, 1);
        });
        context.textAlign = "left";
        context.fillStyle = palette.text;
        context.fillText(one.name, 38, y + CHART / 3);
        context.fillStyle = palette.muted;
        const text = at === undefined ? `${Math.max(...one.counts.slice(from, to + 1), 0)} of ${one.size}` : `${one.counts[at] ?? 0} of ${one.size}`;
        context.fillText(text, 38, y + (CHART * 3) / 4);
        y += CHART + GAP;
      }
      context.fillStyle = palette.line;
      context.fillRect(this.labels - 1, RULER + this.tall, 1, this.foot);
    }

    paintCross() {
      const { context, palette } = this;
      if (this.pointed && this.pointed.cycle >= 0) {
        context.globalAlpha = 0.18;
        context.fillStyle = palette.accent;
        context.fillRect(this.x(this.pointed.cycle), 0, Math.max(1, this.cell), this.height);
        context.globalAlpha = 1;
      }
    }
  }

  // -- the page --------------------------------------------------------------------------------------------

  const revealLine = (line) => shower.postMessage({ command: "reveal", line });

  /** Show an instruction's line in the editor or, without one, in the report's table. */
  function revealInstruction(host, instruction, line) {
    if (shower && line !== null) {
      revealLine(line);
      return;
    }
    const row = host.closest(".prediction")?.querySelector(`tr[data-row="${instruction}"]`);
    if (row) {
      row.scrollIntoView({ block: "center" });
      row.classList.add("shown");
      setTimeout(() => row.classList.remove("shown"), 1500);
    }
  }

  if (shower) {
    document.body.classList.add("linked");
    document.addEventListener("click", (event) => {
      const row = event.target.closest("tr[data-line]");
      if (row) revealLine(Number(row.dataset.line));
    });
  }

  // Open the part of the page that the link leads to.
  document.addEventListener("click", (event) => {
    const target = event.target.closest('a[href^="#"]')?.getAttribute("href");
    const part = target && document.getElementById(target.slice(1));
    if (part) part.open = true;
  });

  function start(host) {
    if (host.timeline || !host.isConnected) return;
    const data = JSON.parse(document.getElementById(host.dataset.timeline).textContent);
    data.lanes = data.lanes.map((lane) => new Map(lane));
    host.timeline = new Timeline(host, data);
  }

  // Timelines in a closed part of the page are made when it is opened.
  const watch = new IntersectionObserver((seen) => {
    for (const one of seen) if (one.isIntersecting) start(one.target);
  }, { rootMargin: "400px" });
  for (const host of document.querySelectorAll("[data-timeline]")) watch.observe(host);
})();
