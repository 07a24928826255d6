"""Renders the report for a terminal: a headline, a table like that of IACA and uiCA, hazards, problems."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from cyclelens.analyzer.insight import absence, as_written, mispredictions, vocabulary, wording, work
from cyclelens.analyzer.insight.assumptions import heading
from cyclelens.analyzer.insight.confidence import doubt, is_lower_bound, reservations, shows_at_least
from cyclelens.analyzer.insight.pressure import port_pressure
from cyclelens.analyzer.insight.rates import rates
from cyclelens.analyzer.insight.static_ports import static_ports
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.account import Account
from cyclelens.analyzer.model.result import Analysis, Assumption, Prediction, RegionAnalysis
from cyclelens.analyzer.model.source import Problem, Region, Severity
from cyclelens.analyzer.reports import chains, overview, paths, table, timeline, weights
from cyclelens.analyzer.reports.lines import EMPTY, Line, LineStyle, paragraph
from cyclelens.analyzer.reports.rows import grouped
from msgspec.structs import replace

_STYLES = {Severity.ERROR: LineStyle.ERROR, Severity.WARNING: LineStyle.WARNING}


def render(analysis: Analysis, file: str) -> str:
    """The whole report without a limit on its width. Lines and columns are one-based; timelines are included
    if there is a trace."""
    return "".join(f"{line.text}\n" for line in lines(analysis, file))


def lines(analysis: Analysis, file: str, width: int | None = None) -> Iterator[Line]:
    """The report line by line.

    ``width``: characters of the terminal; None: prose wraps at ``PARAGRAPH``, tables are not narrowed.
    """
    parts = list(_regions(analysis, file, width))
    if first := [*weights.lines(analysis)] or [*overview.lines(analysis)]:
        parts.insert(0, [Line(line) for line in first])
    if any(region.predictions for region in analysis.regions):
        parts.append(list(_legends(analysis, width)))
    if not analysis.regions and not analysis.problems:
        parts.append([Line(f"{file}: no region is marked")])
    if analysis.problems:
        parts.append(list(_problems(analysis, file)))
    for number, part in enumerate(parts):
        if number:
            yield EMPTY
        yield from part


def _regions(analysis: Analysis, file: str, width: int | None) -> Iterator[list[Line]]:
    """A part per region; a loop without a figure of its own comes before the first of its blocks."""
    branchings = {each.branching.name: each for each in analysis.branchings}
    before = {each.blocks[0].name: each for each in analysis.branchings if each.blocks and not each.paths}
    for region in analysis.regions:
        blocks = before.pop(region.region.name, None)
        if blocks is not None and blocks.averages:
            yield [
                Line(
                    f"== {_title(replace(region.region, name=blocks.branching.name), file)} ==",
                    LineStyle.HEADING,
                ),
                *(Line(f"   {line}") for line in paths.lines(blocks)),
            ]
        part = list(_region(region, file, analysis, width))
        through = branchings.get(region.region.name)
        if through is not None and len(through.paths) > 1:
            part += [EMPTY, *(Line(f"   {line}") for line in paths.lines(through))]
        yield part


def _region(region: RegionAnalysis, file: str, analysis: Analysis, width: int | None) -> Iterator[Line]:
    yield Line(f"== {_title(region.region, file)} ==", LineStyle.HEADING)
    if not region.predictions:
        yield from paragraph("   ", f"No prediction: {region.note}", width, LineStyle.WARNING)
        return
    if region.note:
        yield from paragraph("   ", region.note, width)
    if region.missing:
        yield from paragraph(
            "   ", f"No figure: {absence.sentence(region.missing)}", width, LineStyle.WARNING
        )
    if len(region.predictions) > 1:
        yield EMPTY
        yield from (Line(line) for line in _comparison(region.predictions))
    by_default = wording.default_of(analysis, region)
    for prediction in region.predictions:
        yield EMPTY
        core = wording.core(prediction, by_default, title=True)
        yield from _prediction(region, prediction, core, analysis.account, width)


def _legends(analysis: Analysis, width: int | None) -> Iterator[Line]:
    """Explains the columns, once per vendor whose cores are shown."""
    shown = [prediction for region in analysis.regions for prediction in region.predictions]
    for legend in dict.fromkeys(vocabulary.of(each.microarchitecture).legend for each in shown):
        yield from paragraph("   ", "; ".join(legend), width, LineStyle.ASIDE)


def _title(region: Region, file: str) -> str:
    if any(line.address is not None for line in region.lines):
        return f"{file}: {region.name}, {wording.region_place(region)}"
    return f"{file}:{region.first_line + 1}{': ' + region.name if region.name else ''}"


def _comparison(predictions: Sequence[Prediction]) -> Iterator[str]:
    known = [each.shown_cycles for each in predictions if not shows_at_least(each)]
    fastest = min(known, default=0.0)
    width = max(8, *(len(wording.figure_of(each)) for each in predictions))
    for prediction in predictions:
        exact = fastest and not shows_at_least(prediction)
        factor = f"{prediction.shown_cycles / fastest:.2f}x" if exact else ""
        yield (
            f"   {prediction.microarchitecture:<5} {wording.figure_of(prediction):>{width}} "
            f"{wording.unit(prediction)}{wording.one_pass(prediction)} "
            f"{factor:>7}   {wording.bound_of(prediction)}{doubt(prediction)}"
            f"{wording.elsewhere(prediction)}"
        )


def _prediction(
    region: RegionAnalysis, prediction: Prediction, core: str, full: bool, width: int | None
) -> Iterator[Line]:
    microarchitecture = registry.get(prediction.microarchitecture)
    alone = len(prediction.positions) < 2
    yield Line(
        f"   {work.leading(region, prediction)}{wording.cycles_per(prediction)} on "
        f"{core}, {wording.mode(prediction.mode)}"
        + (f", alignment {prediction.alignment}" if prediction.alignment and alone else "")
        + doubt(prediction),
        LineStyle.FIGURE,
    )
    for label, text in _facts(region, prediction, full):
        yield from paragraph(f"   {label:<12}" if label else "     ", text, width)
    yield EMPTY
    yield from table.table(region, prediction, width)
    chain = list(chains.lines(region, prediction))
    if chain:
        yield EMPTY
        yield from (Line(f"   {line}", LineStyle.CHAIN) for line in chain)
    if full and prediction.account is not None:
        yield EMPTY
        yield from (Line(line) for line in _account(region, prediction, prediction.account))
        yield EMPTY
        yield from (Line(line) for line in _ports(prediction))
    findings = [each for each in region.findings if each.microarchitecture in ("", microarchitecture.name)]
    if findings:
        yield EMPTY
        yield Line("   Hazards:", LineStyle.WARNING)
        for places, finding in grouped(region, findings):
            yield from paragraph("     ", f"{places}: {finding.message} [{finding.code}]", width, indent=7)
    if prediction.simulation.trace is not None:
        yield EMPTY
        yield Line("   Timeline:", LineStyle.HEADING)
        drawn = timeline.render(prediction, texts=as_written.texts(region, prediction))
        yield from (Line(line) for line in textwrap.indent(drawn, "   ").splitlines())


def _facts(region: RegionAnalysis, prediction: Prediction, full: bool) -> Iterator[tuple[str, str]]:
    """Lines between figure and table: (label, text); an empty label continues the previous one."""
    simulation = prediction.simulation
    in_window = simulation.cycles_per_iteration
    if full and simulation.period and in_window != prediction.cycles_per_iteration:
        cycles, iterations = simulation.period
        yield (
            "Window:",
            f"{in_window:.2f} in the published model's window; the pipeline repeats itself every "
            f"{cycles} cycles = {iterations} iterations",
        )
    yield "Bottleneck:", wording.limits(prediction)
    for sentence in wording.explanations(prediction):
        yield "", sentence
    per_cycle = rates(prediction)
    words = vocabulary.of(prediction.microarchitecture)
    most = "at most " if is_lower_bound(prediction) else ""
    yield (
        "Per cycle:",
        f"{most}{per_cycle.instructions:.2f} instructions, {per_cycle.uops:.2f} {words.uop} {words.issued}",
    )
    if doing := work.sentence(region, prediction):
        yield "Work:", doing
    yield "Front end:", wording.front_end(prediction)
    yield "Bounds:", ", ".join(wording.bounds(prediction)) or "none"
    for number, sentence in enumerate(mispredictions.sentences(prediction)):
        yield "" if number else "Branches:", sentence
    if prediction.account is not None:
        yield "Slots:", wording.slots(words, prediction.account)
    for sentence in reservations(prediction):
        yield "Note:", sentence
    for assumption in prediction.assumptions:
        yield (
            f"{heading(assumption)}:",
            f"{assumption.message}{_lines_of(region, assumption)} [{assumption.code}]",
        )


def _lines_of(region: RegionAnalysis, assumption: Assumption) -> str:
    lines = [region.region.lines[region.instruction_lines[index]] for index in assumption.instructions]
    return f" ({wording.places(lines)})" if lines else ""


def _account(region: RegionAnalysis, prediction: Prediction, account: Account) -> Iterator[str]:
    words = vocabulary.of(prediction.microarchitecture)
    areas = ", ".join(f"{words.part(area)} {share:.1%}" for area, share in account.areas().items())
    yield f"   {words.slots.capitalize()}: {account.used_share:.1%} used; lost: {areas}"
    for cause, share in account.causes():
        yield f"     {share:6.1%}  {words.cause(cause)}"
    lost = [(account.lost_cycles(index), index) for index in range(len(prediction.instructions))]
    if any(cycles >= 0.005 for cycles, _ in lost):
        yield "   Cycles lost because of an instruction, per iteration:"
    for cycles, index in sorted(lost, key=lambda item: -item[0]):
        main = account.main_cause(index)
        if cycles >= 0.005 and main is not None:
            yield f"     {cycles:6.2f}  {_place(region, index)} ({words.cause(main)})"


def _ports(prediction: Prediction) -> Iterator[str]:
    """The static port models beside the simulated ports."""
    units = registry.get(prediction.microarchitecture).units
    static = static_ports(prediction)
    yield f"   Uops by {vocabulary.of(prediction.microarchitecture).unit}, per iteration:"
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


def _problems(analysis: Analysis, file: str) -> Iterator[Line]:
    same: dict[tuple[str, str, str], list[Problem]] = {}
    for problem in analysis.problems:
        same.setdefault((problem.severity, problem.code, problem.message), []).append(problem)
    for first, *others in same.values():
        place = wording.problem_place(first, file)
        style = _STYLES.get(first.severity, LineStyle.PLAIN)
        elsewhere = {each.line for each in others} - {first.line}
        also = f" The same in {wording.lines(elsewhere)}." if elsewhere else ""
        yield Line(f"{place}: {first.severity}: {first.message}{also} [{first.code}]", style)
