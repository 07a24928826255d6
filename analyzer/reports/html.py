"""The report as one HTML file that needs nothing else: figures, table, graph of dependencies, timeline."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from cyclelens.analyzer.insight import wording
from cyclelens.analyzer.insight.confidence import assumptions, reservations
from cyclelens.analyzer.insight.dependencies import dependencies
from cyclelens.analyzer.insight.static_ports import static_ports
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.account import Account
from cyclelens.analyzer.model.result import Analysis, Prediction, RegionAnalysis
from cyclelens.analyzer.model.source import UNKNOWN_LINE
from cyclelens.analyzer.reports import graph, timeline
from cyclelens.analyzer.reports.rows import Row, rows, source_shares

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 80em; padding: 0 1em; color: #222 }
h1 { font-size: 1.4em } h2 { font-size: 1.15em; border-bottom: 1px solid #bbb; margin-top: 2em }
table { border-collapse: collapse; font-size: 13px } td, th { padding: 2px 8px; text-align: right }
th { background: #eee } td.text, th.text { text-align: left } td.text { font-family: monospace }
tr.chain td.text { color: #c62828 } tr.total { border-top: 1px solid #888; font-weight: bold }
pre { font-size: 12px; line-height: 1.25; overflow-x: auto; background: #f6f6f6; padding: 8px }
.bar { display: flex; height: 22px; border: 1px solid #888; max-width: 50em } .bar div { height: 100% }
.warn { color: #a04000 } .figure { overflow-x: auto }
"""
_COLOURS = ("#c62828", "#ef6c00", "#f9a825", "#6a1b9a", "#1565c0", "#00838f", "#5d4037", "#616161")
_USED = "#2e7d32"


def render(analysis: Analysis, file: str) -> str:
    """The whole document. Timeline and account are there if the analysis has them."""
    body = "\n".join(_body(analysis, file))
    title = escape(file)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"><title>Cyclelens: {title}</title>'
        f"<style>{_STYLE}</style></head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _body(analysis: Analysis, file: str) -> Iterator[str]:
    yield f"<h1>{escape(file)}</h1>"
    if not analysis.regions:
        yield "<p>No region is marked.</p>"
    for region in analysis.regions:
        if not region.predictions:
            yield f"<h2>{escape(region.region.name or '(unnamed)')}</h2>"
            yield f"<p>No prediction: {escape(region.note)}</p>"
        for prediction in region.predictions:
            yield from _prediction(region, prediction)
    if analysis.problems:
        yield "<h2>Problems</h2><ul>"
        for problem in analysis.problems:
            place = "" if problem.line == UNKNOWN_LINE else f"line {problem.line + 1}: "
            yield f"<li>{place}{escape(problem.message)} [{escape(problem.code)}]</li>"
        yield "</ul>"


def _prediction(region: RegionAnalysis, prediction: Prediction) -> Iterator[str]:
    model = registry.get(prediction.microarchitecture)
    name = escape(region.region.name or "(unnamed)")
    yield f"<h2>{name}, {escape(wording.region_place(region.region))}</h2>"
    yield (
        f"<p><b>{prediction.cycles_per_iteration:.2f} cycles/iter</b> on {escape(model.name)} "
        f"({escape(model.title)}), {wording.mode(prediction.mode)}; "
        f"bottleneck: <b>{escape(', '.join(prediction.bottlenecks))}</b>; "
        f"front end: {escape(wording.front_end(prediction))}</p>"
    )
    notes = [*wording.explanations(prediction), *reservations(prediction), *assumptions(prediction)]
    if region.note:
        notes.append(region.note)
    yield "<ul>" + "".join(f"<li>{escape(note)}</li>" for note in notes) + "</ul>"
    if prediction.account is not None:
        yield from _account(prediction.account)
    yield from _table(region, prediction, model.ports)
    for finding in region.findings:
        if finding.microarchitecture in ("", prediction.microarchitecture):
            place = wording.place(region.region.lines[region.instruction_lines[finding.instruction]])
            yield f'<p class="warn">{escape(place)}: {escape(finding.message)} [{escape(finding.code)}]</p>'
    yield "<h3>Dependencies</h3>"
    yield f'<div class="figure">{graph.picture(region, prediction)}</div>'
    if prediction.simulation.trace is not None:
        labels = {row.index: row.text for row in rows(region, prediction) if row.kind == "instruction"}
        yield "<h3>Timeline</h3>"
        yield f"<pre>{escape(timeline.render(prediction, labels=labels))}</pre>"


def _account(account: Account) -> Iterator[str]:
    yield "<h3>Issue slots</h3>"
    parts = [("used", account.used_share, _USED)]
    parts += [
        (cause.text, share, _COLOURS[number % len(_COLOURS)])
        for number, (cause, share) in enumerate(account.causes())
    ]
    bar = "".join(
        f'<div style="width:{share:.4%};background:{colour}" title="{escape(text)} {share:.1%}"></div>'
        for text, share, colour in parts
    )
    yield f'<div class="bar">{bar}</div><ul>'
    for text, share, colour in parts:
        yield f'<li><span style="color:{colour}">&#9632;</span> {share:.1%} {escape(text)}</li>'
    yield "</ul>"


def _table(region: RegionAnalysis, prediction: Prediction, ports: str) -> Iterator[str]:
    account = prediction.account
    chain = dependencies(prediction).chain_cycles if "Dependencies" in prediction.bottlenecks else {}
    header = ["line", "source", "issued", "exec.", *(f"p{port}" for port in ports)]
    header += ["lost"] if account is not None else []
    cells = "".join(f"<th>{name}</th>" for name in header)
    yield f'<table><tr>{cells}<th class="text">instruction</th><th class="text">notes</th></tr>'
    listed = list(rows(region, prediction))
    for row in listed:
        own = row.kind == "instruction"
        figures = _figures(row, ports)
        if account is not None:
            figures.append(wording.figure(account.lost_cycles(row.index)) if own else "")
        on_chain = own and row.index in chain
        notes = [*row.notes, *([wording.on_chain(chain[row.index])] if on_chain else [])]
        cells = "".join(f"<td>{value}</td>" for value in figures)
        mark = ' class="chain"' if on_chain else ""
        yield (
            f"<tr{mark}><td>{escape(wording.short_place(row.statement))}</td>"
            f'<td>{source_shares(row.usage.sources)}</td>{cells}<td class="text">{escape(row.text)}</td>'
            f'<td class="text">{escape(", ".join(notes))}</td></tr>'
        )
    usages = [row.usage for row in listed]
    totals = [sum(usage.issued for usage in usages), sum(usage.executed for usage in usages)]
    totals += [sum(usage.ports.get(port, 0.0) for usage in usages) for port in ports]
    if account is not None:
        totals.append(sum(account.lost_cycles(index) for index in range(len(prediction.instructions))))
    cells = "".join(f"<td>{wording.figure(value)}</td>" for value in totals)
    yield f'<tr class="total"><td></td><td></td>{cells}<td class="text">total</td><td></td></tr>'
    static = static_ports(prediction)
    for name, load in (("spread at best", static.best), ("spread evenly", static.even)):
        cells = "".join(f"<td>{wording.figure(load.get(port, 0.0))}</td>" for port in ports)
        rest = "<td></td>" if account is not None else ""
        yield f'<tr>{"<td></td>" * 4}{cells}{rest}<td class="text">{name}</td><td></td></tr>'
    yield "</table>"


def _figures(row: Row, ports: str) -> list[str]:
    usage = row.usage
    values = [usage.issued, usage.executed, *(usage.ports.get(port, 0.0) for port in ports)]
    return [wording.figure(value) for value in values]
