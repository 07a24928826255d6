"""Answers in plain text, short enough for an agent that pays for every word: the figure, what limits it, what
it assumes, and the few lines that matter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cyclelens.analyzer.insight import label, mispredictions, wording, work
from cyclelens.analyzer.insight.assumptions import heading
from cyclelens.analyzer.insight.confidence import doubt, reservations, shows_at_least
from cyclelens.analyzer.insight.work import Pace
from cyclelens.analyzer.model.label import AT_LEAST
from cyclelens.analyzer.model.result import Analysis, Prediction, RegionAnalysis
from cyclelens.analyzer.model.source import Problem, Severity
from cyclelens.analyzer.reports import chains
from cyclelens.analyzer.reports.rows import grouped
from cyclelens.analyzer.rewrites.search import Advice

_MOST_LINES = 6
"""Most lines of a region that are listed, those that cost most first."""
_MOST_STEPS = 6
"""Most lines about critical chains: the heading and the first steps."""
_MOST_FINDINGS = 4
_MOST_PROBLEMS = 5
_MOST_REGIONS = 8
"""Most regions that are described whole; of others only the figure is said."""
_LEAST_LOST = 0.05
"""Cycles per iteration from which a line is listed."""


def of_analysis(analysis: Analysis) -> str:
    """Every region: its figure, limit, chain, costly lines, findings and assumptions."""
    lines = list(_problems(analysis))
    for number, region in enumerate(analysis.regions):
        if number < _MOST_REGIONS:
            lines += ["", *_region(region)] if lines else _region(region)
        else:
            lines.append(f"{region.region.name}: {_figures(region)}")
    return "\n".join(lines)


def _problems(analysis: Analysis) -> Iterator[str]:
    """The first problems of the text, and how many more there are."""
    told = [
        f"{each.severity.name.lower()} {wording.problem_place(each, '').lstrip(':')}: "
        f"{each.message} [{each.code}]"
        for each in analysis.problems
        if _concerns(each, analysis)
    ]
    yield from _first(told, _MOST_PROBLEMS, "problems")


def _concerns(problem: Problem, analysis: Analysis) -> bool:
    """Mistakes always count, mere information only in a region that is described."""
    if problem.severity is not Severity.INFORMATION or not analysis.regions:
        return True
    return any(each.region.first_line <= problem.line <= each.region.last_line for each in analysis.regions)


def _first(lines: Sequence[str], most: int, what: str) -> Iterator[str]:
    """The first lines, and how many more there are."""
    yield from lines[:most]
    if len(lines) > most:
        yield f"... and {len(lines) - most} more {what}"


def _figures(region: RegionAnalysis) -> str:
    return label.headline(label.of_region(region)) or region.note or "no figure"


def _region(region: RegionAnalysis) -> Iterator[str]:
    first, last = region.region.first_line + 1, region.region.last_line + 1
    yield f"region {region.region.name} (lines {first} to {last}): {_figures(region)}"
    for prediction in region.predictions[:1]:
        yield from _prediction(region, prediction)
    for missing in region.missing:
        yield f"no figure on {missing.microarchitecture}: {missing.brief}"


def _prediction(region: RegionAnalysis, prediction: Prediction) -> Iterator[str]:
    yield f"limited by: {wording.limits(prediction)}{doubt(prediction)}"
    if bounds := ", ".join(wording.bounds(prediction)):
        yield f"bounds in cycles per iteration: {bounds}"
    if doing := work.sentence(region, prediction):
        yield f"work: {doing}"
    yield from (f"branches: {sentence}" for sentence in mispredictions.sentences(prediction))
    steps = [line.strip() for line in chains.lines(region, prediction)]
    yield from _first(steps, _MOST_STEPS, "lines of chains")
    yield from _costly(region, prediction)
    findings = [
        each for each in region.findings if each.microarchitecture in ("", prediction.microarchitecture)
    ]
    told = [
        f"finding at {places}: {finding.message} [{finding.code}]"
        for places, finding in grouped(region, findings)
    ]
    yield from _first(told, _MOST_FINDINGS, "findings")
    for sentence in reservations(prediction):
        yield f"caution: {sentence}"
    for assumption in prediction.assumptions:
        yield f"{heading(assumption).lower()}: {assumption.message} [{assumption.code}]"


def _costly(region: RegionAnalysis, prediction: Prediction) -> Iterator[str]:
    """The lines that lose most issue slots."""
    if prediction.account is None:
        return
    lost = [(prediction.account.lost_cycles(index), index) for index in range(len(prediction.instructions))]
    for cycles, index in sorted(lost, key=lambda each: -each[0])[:_MOST_LINES]:
        if cycles < _LEAST_LOST:
            return
        statement = region.region.lines[region.instruction_lines[index]]
        yield f"{cycles:.2f} cycles lost at line {statement.line + 1}: {' '.join(statement.text.split())}"


def of_comparison(before: Analysis, after: Analysis) -> str:
    """Each region that both texts have: both figures, and the gain per unit of work."""
    lines = [f"before: {line}" for line in _problems(before)] + [
        f"after: {line}" for line in _problems(after)
    ]
    new = {region.region.name: region for region in after.regions}
    for old in before.regions:
        name = old.region.name
        other = new.pop(name, None)
        if other is None:
            lines.append(f"{name}: only before: {_figures(old)}")
            continue
        lines.append(f"{name}: before {_figures(old)}; after {_figures(other)}")
        for first, second in zip(old.predictions, other.predictions, strict=False):
            if first.microarchitecture == second.microarchitecture:
                paces = (
                    Pace(first.shown_cycles, work.work_of(old)),
                    Pace(second.shown_cycles, work.work_of(other)),
                )
                lines.append(f"  {first.microarchitecture}: {work.change(*paces) or 'no difference'}")
    lines += [f"{name}: only after: {_figures(region)}" for name, region in new.items()]
    return "\n".join(lines) or "neither text has a region"


def of_advice(advice: Advice, prediction: Prediction, *, is_whole: bool = True) -> str:
    """A region's rewrites with their gains, the simplest first. ``prediction``: that of the region.
    ``is_whole``: the search came to its end."""
    least = AT_LEAST if shows_at_least(prediction) else ""
    lines = [f"{advice.region}: {least}{advice.cycles:.2f} cycles per iteration"]
    if not advice.fixes:
        lines[0] += "; no rewrite that was tried helps"
    for number, fix in enumerate(advice.fixes, 1):
        lines.append(f"  {number}. {fix.gain}: {fix.proposal.title}")
    if not is_whole:
        lines.append(
            "  The time was over before every rewrite was tried: name a region, or start with --seconds N."
        )
    return "\n".join(lines)
