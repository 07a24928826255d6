"""Renders the report as one self-contained HTML file: figures, timeline, table, dependency graph.

Editors show the same page in a panel: it takes their colours and tells them which line was clicked. The
content security policy allows the page's own style and script and nothing else; both carry the digest of the
page, which no text inside it can know.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files

from cyclelens.analyzer.insight import absence, as_written, mispredictions, vocabulary, wording, work
from cyclelens.analyzer.insight.assumptions import heading
from cyclelens.analyzer.insight.confidence import is_lower_bound, reservations
from cyclelens.analyzer.insight.dependencies import dependencies
from cyclelens.analyzer.insight.rates import rates
from cyclelens.analyzer.insight.static_ports import static_ports
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.result import Analysis, Prediction, RegionAnalysis
from cyclelens.analyzer.model.source import UNKNOWN_LINE
from cyclelens.analyzer.model.units import Units
from cyclelens.analyzer.reports import bars, graph, table, timeline
from cyclelens.analyzer.reports.interactive import script_data, source_line
from cyclelens.analyzer.reports.rows import Row, grouped, rows

_LIGHT = {
    "background": "#ffffff",
    "text": "#1f2328",
    "muted": "#59636e",
    "line": "#d5dae0",
    "band": "#f4f6f8",
    "select": "#dcebff",
    "accent": "#0a5fd0",
    "chain": "#c0222b",
    "warn": "#8a4600",
    "front": "#e3d8f5",
    "queue": "#cfdff8",
    "delay": "#f3efe2",
    "inputs": "#f2d98c",
    "port": "#f7bfa5",
    "execution": "#9ddcae",
    "done": "#e0e3e6",
    "used": "#3f8f5a",
    "used-other": "#6f9ed6",
    "full": "#d98324",
}
_DARK = {
    "background": "#14181d",
    "text": "#e2e6ea",
    "muted": "#9aa4af",
    "line": "#363d46",
    "band": "#1b2026",
    "select": "#1d3a5f",
    "accent": "#6cb2ff",
    "chain": "#ff7b72",
    "warn": "#f0a868",
    "front": "#43345f",
    "queue": "#233e66",
    "delay": "#2e2b22",
    "inputs": "#6b5610",
    "port": "#7d3a20",
    "execution": "#1e6b38",
    "done": "#343a42",
    "used": "#3fa45f",
    "used-other": "#5486c4",
    "full": "#c9731a",
}
_EDITOR = {
    "background": "--vscode-editor-background",
    "text": "--vscode-editor-foreground",
    "muted": "--vscode-descriptionForeground",
    "accent": "--vscode-textLink-foreground",
    "mono": "--vscode-editor-font-family",
    "sans": "--vscode-font-family",
}
"""Custom properties that follow the theme of VS Code."""
_FONTS = {
    "sans": "system-ui, sans-serif",
    "mono": "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace",
}


def render(analysis: Analysis, file: str) -> str:
    """The whole document. The timeline and the account appear if the analysis has them."""
    return _page(file, "\n".join(_body(analysis, file)))


def render_columns(
    title: str,
    what: str,
    figures: Mapping[str, Sequence[tuple[str, float]]],
    text: str,
    marked: Collection[str] = (),
    marks: str = "",
) -> str:
    """A page with cycles per iteration under many conditions, a chart per name of ``figures``.

    ``what``: what the conditions are. ``text``: the same in words, shown below. ``marked``: the conditions
    that hold now; ``marks`` explains the mark.
    """
    most = max((cycles for row in figures.values() for _, cycles in row), default=0.0)
    body = [f"<h1>{escape(title)}</h1>"]
    for name, row in figures.items():
        best = min((cycles for _, cycles in row), default=0.0)
        worst = max((cycles for _, cycles in row), default=0.0)
        label = f"cycles per iteration by {what}"
        body.append(f"<h3>{escape(name)}: {best:.2f} to {worst:.2f} cycles/iter</h3>")
        high = "slow" if worst > best else ""
        chart = bars.columns(row, most, label, axis=bars.Axis(7 * len(row), 8, marked), high=high)
        body.append(f'<div class="figure" tabindex="0">{chart}</div>')
        shown = f"{label}; \N{BLACK UP-POINTING TRIANGLE} {marks}" if marked else label
        body.append(f'<p class="muted">{escape(shown)}</p>')
    body.append(f'<pre tabindex="0">{escape(text)}</pre>')
    return _page(title, "\n".join(body))


def _page(title: str, body: str) -> str:
    page = files("cyclelens.analyzer.reports") / "page"
    style = colours() + (page / "page.css").read_text(encoding="utf-8")
    script = (page / "timeline.js").read_text(encoding="utf-8")
    nonce = sha256(body.encode()).hexdigest()[:32]
    policy = f"default-src 'none'; style-src 'nonce-{nonce}'; script-src 'nonce-{nonce}'"
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width">
<title>Cyclelens: {escape(title)}</title>
<style nonce="{nonce}">
{style}</style>
</head>
<body>
<main>
{body}
</main>
<script nonce="{nonce}">
{script}</script>
</body>
</html>
"""


def colours() -> str:
    """Style sheet of the palette: light or dark, as the reader's system or the editor sets it."""

    def block(selector: str, values: Mapping[str, str]) -> str:
        return f"{selector} {{ {' '.join(f'--{name}: {value};' for name, value in values.items())} }}\n"

    editor = {name: f"var({variable})" for name, variable in _EDITOR.items()}
    return (
        block(":root", {"color-scheme": "light dark"} | _LIGHT | _FONTS).replace(
            "--color-scheme", "color-scheme"
        )
        + f"@media (prefers-color-scheme: dark) {{ {block(':root', _DARK)}}}\n"
        + block("body.vscode-light, body.vscode-high-contrast-light", _LIGHT | editor)
        + block(
            "body.vscode-dark, body.vscode-high-contrast:not(.vscode-high-contrast-light)", _DARK | editor
        )
    )


def _body(analysis: Analysis, file: str) -> Iterator[str]:
    yield f"<h1>{escape(file)}</h1>"
    if not analysis.regions:
        yield "<p>No region is marked.</p>"
    for number, region in enumerate(analysis.regions):
        place = wording.region_place(region.region)
        name = escape(f"{region.region.name or '(unnamed)'}, {place}")
        if not region.predictions:
            yield f"<h2>{name}</h2>"
            yield f"<p>No prediction: {escape(region.note)}</p>"
        elif len(region.predictions) > 1:
            yield f"<h2>{name}, compared</h2>"
            yield from bars.multiples(
                [
                    (prediction.microarchitecture, f"p{number}-{prediction.microarchitecture}", prediction)
                    for prediction in region.predictions
                ],
                work.work_of(region),
            )
        if region.predictions and region.missing:
            yield f"<p>No figure: {escape(absence.sentence(region.missing))}</p>"
        for position, prediction in enumerate(region.predictions):
            identifier = f"{number}-{prediction.microarchitecture}"
            opened = "" if position else " open"
            yield f'<details class="prediction" id="p{identifier}"{opened}>'
            yield f"<summary><h2>{name}, {prediction.microarchitecture}</h2></summary>"
            core = wording.core(prediction, wording.default_of(analysis, region), title=True)
            yield from _prediction(region, prediction, core, f"t{identifier}")
            yield "</details>"
    if analysis.problems:
        yield "<h2>Problems</h2><ul>"
        for problem in analysis.problems:
            place = "" if problem.line == UNKNOWN_LINE else f"line {problem.line + 1}: "
            yield f"<li>{place}{escape(problem.message)} [{escape(problem.code)}]</li>"
        yield "</ul>"


def _prediction(region: RegionAnalysis, prediction: Prediction, core: str, identifier: str) -> Iterator[str]:
    model = registry.get(prediction.microarchitecture)
    yield (
        f'<p class="headline"><b>{work.leading(region, prediction)}{wording.figure_of(prediction)} '
        f"{wording.unit(prediction)}</b>"
        f"{wording.elsewhere(prediction)}{wording.one_pass(prediction)} "
        f"on {escape(core)}, {wording.mode(prediction.mode)}, "
        f"<b>{escape(wording.bound_of(prediction))}</b></p>"
    )
    if prediction.simulation.trace is not None:
        texts = as_written.texts(region, prediction)
        data = script_data(region, prediction)
        yield f'<script type="application/json" id="{identifier}">{data}</script>'
        yield f'<div class="timeline" data-timeline="{identifier}"></div>'
        yield "<details><summary>A few iterations as text</summary>"
        yield f"<pre>{escape(timeline.render(prediction, texts=texts))}</pre></details>"
    yield "<h3>Instructions</h3>"
    yield '<div class="figure" tabindex="0">'
    yield from _table(region, prediction, model.units)
    yield "</div>"
    findings = [each for each in region.findings if each.microarchitecture in ("", model.name)]
    for place, finding in grouped(region, findings):
        yield f'<p class="warn">{escape(place)}: {escape(finding.message)} [{escape(finding.code)}]</p>'
    per_cycle = rates(prediction)
    words = vocabulary.of(prediction.microarchitecture)
    most = "at most " if is_lower_bound(prediction) else ""
    notes = [
        *wording.explanations(prediction),
        f"Per cycle: {most}{per_cycle.instructions:.2f} instructions, "
        f"{per_cycle.uops:.2f} {words.uop} {words.issued}",
        f"Front end: {wording.front_end(prediction)}",
    ]
    if prediction.bounds:
        bounds = sorted(prediction.bounds.items(), key=lambda bound: -bound[1])
        notes.append("Bounds: " + ", ".join(f"{words.limit(name)} {cycles:.2f}" for name, cycles in bounds))
    notes += mispredictions.sentences(prediction)
    notes += reservations(prediction)
    notes += [f"{heading(each)}: {each.message} [{each.code}]" for each in prediction.assumptions]
    if doing := work.sentence(region, prediction):
        notes.append(f"Work: {doing}")
    if region.note:
        notes.append(region.note)
    yield "<h3>Why</h3>"
    yield '<ul class="notes">' + "".join(f"<li>{escape(note)}</li>" for note in notes) + "</ul>"
    if prediction.account is not None:
        yield from _account(words.slots, bars.slots([prediction])[0])
    yield "<h3>Dependencies</h3>"
    yield f'<div class="figure graph" tabindex="0">{graph.picture(region, prediction)}</div>'


def _account(heading: str, parts: Sequence[bars.Part]) -> Iterator[str]:
    yield f"<h3>{heading.capitalize()}</h3>"
    yield f'<div class="figure" tabindex="0">{bars.stacked(parts, 800, 22)}</div><ul class="causes">'
    for text, share, colour in parts:
        yield f"<li>{bars.square(colour)} {share:.1%} {escape(text)}</li>"
    yield "</ul>"


_LEFT_OUT = ("source:", "exec.:", "div:")
"""Legend entries of columns that a narrow page leaves out."""


def _table(region: RegionAnalysis, prediction: Prediction, units: Units) -> Iterator[str]:
    ports = units.names
    account = prediction.account
    chain = dependencies(prediction).chain_cycles if "Dependencies" in prediction.bottlenecks else {}
    words = vocabulary.of(prediction.microarchitecture)
    heads = [("source", "more"), (words.issued, ""), ("exec.", "more")]
    heads += [(units.label(port), "more") for port in ports]
    heads += [("lost", "")] if account is not None else []
    heads += [(name, "") for name in table.BY_ITSELF]
    cells = "".join(f'<th scope="col"{_class(kind)}>{name}</th>' for name, kind in heads)
    # The instruction comes first and stays in view.
    first = '<th scope="col">line</th><th scope="col" class="text">instruction</th>'
    yield f'<table class="instructions"><tr>{first}{cells}</tr>'
    listed = list(rows(region, prediction))
    for row in listed:
        own = row.kind == "instruction"
        figures = _figures(row, ports)
        if account is not None:
            figures.append(wording.figure(account.lost_cycles(row.index)) if own else "")
        on_chain = own and row.index in chain
        notes = [*row.notes, *([wording.on_chain(chain[row.index])] if on_chain else [])]
        cells = _cells(figures, prediction.cycles_per_iteration, len(ports))
        cells += "".join(f"<td>{value}</td>" for value in table.by_itself(prediction, row))
        mark = ' class="chain"' if on_chain else ""
        line = source_line(row.statement)
        if row.use:
            rest = f'<td class="more"></td>{"".join(f"<td{_class(kind)}></td>" for _, kind in heads[1:])}'
            place = escape(wording.short_place(row.statement))
            yield f'<tr class="use"><td>{place}</td><td class="text">{escape(row.use)}</td>{rest}</tr>'
        mark += f' data-row="{row.index}"' if own else ""
        mark += f' data-line="{line}"' if line is not None else ""
        yield (
            f"<tr{mark}><td>{escape(wording.short_place(row.statement))}</td>"
            f'<td class="text">{escape(row.text)}<div class="notes">{escape(", ".join(notes))}</div>'
            f'<div class="notes narrow">{_used(row, units)}</div></td>'
            f'<td class="more">{wording.sources(words, row.usage.sources)}</td>{cells}</tr>'
        )
    usages = [row.usage for row in listed]
    totals = [sum(usage.issued for usage in usages), sum(usage.executed for usage in usages)]
    totals += [sum(usage.ports.get(port, 0.0) for usage in usages) for port in ports]
    if account is not None:
        totals.append(sum(account.lost_cycles(index) for index in range(len(prediction.instructions))))
    cells = _cells([wording.figure(value) for value in totals], prediction.cycles_per_iteration, len(ports))
    cells += "<td></td><td></td>"
    yield f'<tr class="total"><td></td><td class="text">total</td><td class="more"></td>{cells}</tr>'
    static = static_ports(prediction)
    for name, load in (("spread at best", static.best), ("spread evenly", static.even)):
        cells = "".join(f'<td class="more">{wording.figure(load.get(port, 0.0))}</td>' for port in ports)
        rest = "<td></td>" * (2 + (account is not None))
        before = '<td class="more"></td><td></td><td class="more"></td>'
        yield f'<tr class="spread more"><td></td><td class="text">{name}</td>{before}{cells}{rest}</tr>'
    yield "</table>"
    *entries, last = words.legend
    shown = [
        f'<span class="more">{text}</span>' if text.startswith(_LEFT_OUT) else text
        for text in (f"{escape(entry)}; " for entry in entries)
    ]
    yield f'<p class="muted">{"".join(shown)}{escape(last)}</p>'


def _cells(figures: Sequence[str], cycles: float, ports: int) -> str:
    """Cells of a row; those of the ports, after the first two, show what share of the time the port is busy.

    A narrow page hides the executed uops and the ports: the row repeats them in words.
    """
    cells = []
    for position, figure in enumerate(figures):
        port = 2 <= position < 2 + ports
        level = min(10, round(10 * float(figure) / cycles)) if port and figure and cycles else 0
        kinds = [*(["load", f"l{level}"] if level else []), *(["more"] if 1 <= position < 2 + ports else [])]
        cells.append(f"<td{_class(' '.join(kinds))}>{figure}</td>")
    return "".join(cells)


def _class(names: str) -> str:
    return f' class="{names}"' if names else ""


def _used(row: Row, units: Units) -> str:
    """The ports of a row in words; no line breaks within an entry: ``p0 0.25, p6 0.75``."""
    used = row.usage.ports
    return ", ".join(
        f"{units.label(port)}\N{NO-BREAK SPACE}{used[port]:.2f}"
        for port in units.names
        if used.get(port, 0.0) >= 0.005
    )


def _figures(row: Row, ports: Sequence[str]) -> list[str]:
    usage = row.usage
    values = [usage.issued, usage.executed, *(usage.ports.get(port, 0.0) for port in ports)]
    return [wording.figure(value) for value in values]
