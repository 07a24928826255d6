"""The report for a terminal: a headline, a table in the manner of IACA and uiCA, hazards, problems."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from cyclelens.analyzer.insight import absence, as_written, wording
from cyclelens.analyzer.insight.confidence import doubt, reservations
from cyclelens.analyzer.insight.pressure import port_pressure
from cyclelens.analyzer.insight.static_ports import static_ports
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.account import Account
from cyclelens.analyzer.model.result import Analysis, Assumption, Finding, Prediction, RegionAnalysis
from cyclelens.analyzer.model.source import Region
from cyclelens.analyzer.reports import chains, timeline
from cyclelens.analyzer.reports.rows import Row, rows, source_shares

_WIDTH = 110


def render(analysis: Analysis, file: str) -> str:
    """The whole report. Lines and columns are one-based; timelines are added where there is a trace."""
    parts = ["\n".join(_region(region, file, analysis.account)) for region in analysis.regions]
    if not analysis.regions and not analysis.problems:
        parts.append(f"{file}: no region is marked")
    if analysis.problems:
        parts.append("\n".join(_problems(analysis, file)))
    return "\n\n".join(parts) + "\n"


def _region(region: RegionAnalysis, file: str, full: bool) -> Iterator[str]:
    yield f"== {_title(region.region, file)} =="
    if not region.predictions:
        yield f"   No prediction: {region.note}"
        return
    if region.note:
        yield f"   {region.note}"
    if region.missing:
        yield f"   No figure: {absence.sentence(region.missing)}"
    if len(region.predictions) > 1:
        yield ""
        yield from _comparison(region.predictions)
    for prediction in region.predictions:
        yield ""
        yield from _prediction(region, prediction, full)


def _title(region: Region, file: str) -> str:
    if any(line.address is not None for line in region.lines):
        return f"{file}: {region.name}, {wording.region_place(region)}"
    return f"{file}:{region.first_line + 1}{': ' + region.name if region.name else ''}"


def _comparison(predictions: Sequence[Prediction]) -> Iterator[str]:
    fastest = min(prediction.cycles_per_iteration for prediction in predictions)
    for prediction in predictions:
        factor = f"{prediction.cycles_per_iteration / fastest:.2f}x" if fastest else ""
        yield (
            f"   {prediction.microarchitecture:<5} {prediction.cycles_per_iteration:8.2f} cycles/iter "
            f"{factor:>7}   {wording.bound_by(prediction.bottlenecks)}{doubt(prediction)}"
            f"{wording.elsewhere(prediction)}"
        )


def _prediction(region: RegionAnalysis, prediction: Prediction, full: bool) -> Iterator[str]:
    microarchitecture = registry.get(prediction.microarchitecture)
    findings = _findings_of(region, prediction)
    alone = len(prediction.positions) < 2
    yield (
        f"   {prediction.cycles_per_iteration:.2f} cycles/iter{wording.elsewhere(prediction)} on "
        f"{microarchitecture.name} ({microarchitecture.title}), {wording.mode(prediction.mode)}"
        + (f", alignment {prediction.alignment}" if prediction.alignment and alone else "")
        + doubt(prediction)
    )
    simulation = prediction.simulation
    if simulation.period and simulation.cycles_per_iteration != prediction.cycles_per_iteration:
        cycles, rounds = simulation.period
        yield (
            f"   Window:     {simulation.cycles_per_iteration:.2f} in the published model's window; "
            f"the pipeline repeats itself every {cycles} cycles = {rounds} iterations"
        )
    yield f"   Bottleneck: {', '.join(prediction.bottlenecks)}"
    for sentence in wording.explanations(prediction):
        yield f"     {sentence}"
    yield f"   Front end:  {wording.front_end(prediction)}"
    bounds = [f"{name} {value:.2f}" for name, value in sorted(prediction.bounds.items()) if value > 0]
    yield f"   Bounds:     {', '.join(bounds) if bounds else 'none'}"
    if prediction.account is not None:
        yield f"   Slots:      {wording.slots(prediction.account)}"
    for sentence in reservations(prediction):
        yield f"   Note:       {sentence}"
    for assumption in prediction.assumptions:
        yield f"   Assumed:    {assumption.message}{_lines_of(region, assumption)} [{assumption.code}]"
    yield ""
    yield from _table(region, prediction)
    chain = list(chains.lines(region, prediction))
    if chain:
        yield ""
        yield from (f"   {line}" for line in chain)
    if full and prediction.account is not None:
        yield ""
        yield from _account(region, prediction, prediction.account)
        yield ""
        yield from _ports(prediction)
    if findings:
        yield ""
        yield "   Hazards:"
        for finding in findings:
            statement = region.region.lines[region.instruction_lines[finding.instruction]]
            yield from textwrap.wrap(
                f"{wording.place(statement)}: {finding.message} [{finding.code}]",
                _WIDTH,
                initial_indent="     ",
                subsequent_indent="       ",
                break_on_hyphens=False,
            )
    if prediction.simulation.trace is not None:
        yield ""
        yield "   Timeline:"
        drawn = timeline.render(prediction, texts=as_written.texts(region, prediction))
        yield textwrap.indent(drawn, "   ")


def _lines_of(region: RegionAnalysis, assumption: Assumption) -> str:
    lines = [region.region.lines[region.instruction_lines[index]] for index in assumption.instructions]
    return f" ({wording.places(lines)})" if lines else ""


def _account(region: RegionAnalysis, prediction: Prediction, account: Account) -> Iterator[str]:
    areas = ", ".join(f"{area} {share:.1%}" for area, share in account.areas().items())
    yield f"   Issue slots: {account.used_share:.1%} used; lost: {areas}"
    for cause, share in account.causes():
        yield f"     {share:6.1%}  {cause.text}"
    lost = [(account.lost_cycles(index), index) for index in range(len(prediction.instructions))]
    if any(cycles >= 0.005 for cycles, _ in lost):
        yield "   Cycles lost because of an instruction, per iteration:"
    for cycles, index in sorted(lost, key=lambda item: -item[0]):
        main = account.main_cause(index)
        if cycles >= 0.005 and main is not None:
            yield f"     {cycles:6.2f}  {_place(region, index)} ({main.text})"


def _ports(prediction: Prediction) -> Iterator[str]:
    """The static port models beside what was simulated."""
    units = registry.get(prediction.microarchitecture).units
    static = static_ports(prediction)
    yield "   Uops by port, per iteration:"
    yield " " * 25 + "".join(f"{units.label(port):>6}" for port in units.names) + "   busiest"
    for name, load in (
        ("simulated", port_pressure(prediction)),
        ("spread at best", static.best),
        ("spread evenly", static.even),
    ):
        cells = "".join(f"{wording.figure(load.get(port, 0.0)):>6}" for port in units.names)
        yield f"     {name:<20}{cells}{max(load.values(), default=0.0):10.2f}"


def _place(region: RegionAnalysis, instruction: int) -> str:
    statement = region.region.lines[region.instruction_lines[instruction]]
    return f"{wording.place(statement)}: {' '.join(statement.text.split())}"


def _findings_of(region: RegionAnalysis, prediction: Prediction) -> list[Finding]:
    primary = prediction.microarchitecture
    return [finding for finding in region.findings if finding.microarchitecture in ("", primary)]


def _table(region: RegionAnalysis, prediction: Prediction) -> Iterator[str]:
    units = registry.get(prediction.microarchitecture).units
    ports = units.names
    listed = list(rows(region, prediction))
    has_divider = any(row.usage.divider for row in listed)
    has_addresses = any(row.statement.address is not None for row in listed)
    header = ["line", "source", "issued", "exec.", *map(units.label, ports)]
    if has_divider:
        header.append("div")
    cells = [_cells(row, ports, has_divider) for row in listed]
    totals = _totals(listed, ports, has_divider)
    account = prediction.account
    if account is not None:
        header.append("lost")
        for row, line in zip(listed, cells, strict=True):
            own = row.kind == "instruction"
            line.append(wording.figure(account.lost_cycles(row.index)) if own else "")
        totals.append(wording.figure(sum(account.lost_cycles(i) for i in range(len(account.used)))))
    previous = None
    for row, line in zip(listed, cells, strict=True):
        # The number of a line that holds several rows stands at the first one.
        source = wording.source_line(row.statement)
        line[0] = "" if source == previous else source
        previous = source
    if has_addresses:
        header.insert(0, "address")
        totals.insert(0, "")
        for row, line in zip(listed, cells, strict=True):
            line.insert(0, f"{row.statement.address:x}" if row.kind == "instruction" else "")
    widths = [
        max(len(header[i]), len(totals[i]), *(len(line[i]) for line in cells)) for i in range(len(header))
    ]
    text_width = max(len("instruction"), *(len(row.text) for row in listed))

    def formatted(line: Sequence[str]) -> str:
        return "   " + "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))

    yield f"{formatted(header)}   instruction"
    for row, line in zip(listed, cells, strict=True):
        notes = ", ".join(row.notes)
        yield f"{formatted(line)}   {row.text.ljust(text_width)}   {notes}".rstrip()
    yield f"{formatted(totals)}   total"


def _cells(row: Row, ports: Sequence[str], has_divider: bool) -> list[str]:
    usage = row.usage
    figures = [usage.issued, usage.executed, *(usage.ports.get(port, 0.0) for port in ports)]
    if has_divider:
        figures.append(usage.divider)
    return ["", source_shares(usage.sources), *(wording.figure(value) for value in figures)]


def _totals(listed: Sequence[Row], ports: Sequence[str], has_divider: bool) -> list[str]:
    usages = [row.usage for row in listed]
    figures = [
        sum(usage.issued for usage in usages),
        sum(usage.executed for usage in usages),
        *(sum(usage.ports.get(port, 0.0) for usage in usages) for port in ports),
    ]
    if has_divider:
        figures.append(sum(usage.divider for usage in usages))
    return ["", "", *(wording.figure(value) for value in figures)]


def _problems(analysis: Analysis, file: str) -> Iterator[str]:
    for problem in analysis.problems:
        place = wording.problem_place(problem, file)
        yield f"{place}: {problem.severity}: {problem.message} [{problem.code}]"
