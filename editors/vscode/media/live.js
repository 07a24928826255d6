// The tabs of the live panel, in front of whatever page is shown: which one, where it was scrolled to, and the
// cursor of the editor. The page's own script asks for the same interface to the editor.
"use strict";

(() => {
  const api = acquireVsCodeApi();
  window.acquireVsCodeApi = () => api;
  const shown = JSON.parse(document.getElementById("live-state").textContent);
  const before = api.getState() ?? {};
  const same = before.tab === shown.tab && before.region === shown.region && before.uri === shown.uri;
  let state = same ? { ...before, ...shown } : shown;
  api.setState(state);

  const tabs = [...document.querySelectorAll(".live [role=tab]")];
  for (const [position, tab] of tabs.entries()) {
    tab.addEventListener("click", () => api.postMessage({ command: "tab", tab: tab.dataset.tab }));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (step) tabs[(position + step + tabs.length) % tabs.length].focus();
    });
  }
  document.querySelector("[data-measure]")?.addEventListener("click", () => api.postMessage({ command: "measure" }));
  for (const row of document.querySelectorAll(".plain tr[data-line]")) {
    row.addEventListener("click", () => api.postMessage({ command: "reveal", line: Number(row.dataset.line) }));
  }

  /** The first timeline of the page, once it was drawn. */
  const timeline = () => document.querySelector("[data-timeline]")?.timeline;
  const keep = () => {
    const drawn = timeline();
    const view = drawn && { cell: drawn.cell, left: drawn.scroller.scrollLeft, top: drawn.scroller.scrollTop };
    state = { ...state, scroll: window.scrollY, view: view ?? state.view };
    api.setState(state);
  };
  document.addEventListener("scroll", () => requestAnimationFrame(keep), true);

  // An edit brings a new page: it stands where the last one stood.
  const restore = (tries) => {
    const drawn = timeline();
    if (state.view && drawn) {
      const { cell, left, top } = state.view;
      drawn.cell = cell;
      drawn.measure();
      drawn.scrollTo(left, top);
    } else if (state.view && tries > 0) {
      setTimeout(restore, 50, tries - 1);
    }
  };
  addEventListener("load", () => {
    if (same) {
      window.scrollTo(0, state.scroll ?? 0);
      restore(20);
    }
    api.postMessage({ command: "ready" });
  });

  /** The editor's cursor: its line is marked in tables, and the timeline shows its instruction. */
  addEventListener("message", ({ data }) => {
    if (data.command !== "cursor") return;
    for (const row of document.querySelectorAll("tr[data-line]")) {
      row.classList.toggle("cursor", Number(row.dataset.line) === data.line);
    }
    timeline()?.showLine(data.line);
  });
})();
