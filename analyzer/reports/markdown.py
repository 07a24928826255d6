"""Renders the report as Markdown, short enough for a pull request's comment; details are folded."""

from __future__ import annotations

import html
from collections.abc import Iterator

from cyclelens.analyzer.common.escaping import code, printable, prose
from cyclelens.analyzer.insight import vocabulary, wording
from cyclelens.analyzer.insight.assumptions import heading
from cyclelens.analyzer.insight.confidence import doubt, reservations
from cyclelens.analyzer.insight.dependencies import dependencies
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.result import Analysis, Prediction, RegionAnalysis
from cyclelens.analyzer.model.source import UNKNOWN_LINE
from cyclelens.analyzer.reports.rows import grouped, rows


def render(analysis: Analysis, file: str) -> str:
    """A table of all regions, then one folded section per region. Lines are one-based."""
    return "\n".join(_lines(analysis, file)) + "\n"


def _lines(analysis: Analysis, file: str) -> Iterator[str]:
    yield f"### Cyclelens: {code(file)}"
    yield ""
    if not analysis.regions:
        yield "No region is marked."
    else:
        yield "| region | line | | cycles/iter | bottleneck |"
        yield "|---|---:|---|---:|---|"
    for region in analysis.regions:
        name = prose(region.region.name or "(unnamed)")
        place = prose(wording.region_place(region.region).removeprefix("line "))
        if not region.predictions and not region.missing:
            yield f"| {name} | {place} | | | {prose(region.note)} |"
        for missing in region.missing:
            yield f"| {name} | {place} | {missing.microarchitecture} | | {prose(missing.reason)} |"
        for prediction in region.predictions:
            core = wording.core(prediction, wording.default_of(analysis, region))
            yield (
                f"| {name} | {place} | {core} "
                f"| {wording.figure_of(prediction)}{doubt(prediction)}"
                f"{wording.elsewhere(prediction)}{wording.one_pass(prediction)} "
                f"| {wording.limits(prediction)} |"
            )
    for region in analysis.regions:
        for prediction in region.predictions:
            yield ""
            yield from _details(region, prediction)
    if analysis.problems:
        yield ""
        yield "**Problems**"
        yield ""
        for problem in analysis.problems:
            place = "" if problem.line == UNKNOWN_LINE else f"line {problem.line + 1}: "
            yield f"- {place}{problem.severity}: {prose(problem.message)} (`{problem.code}`)"


def _details(region: RegionAnalysis, prediction: Prediction) -> Iterator[str]:
    name = f"{region.region.name or '(unnamed)'} on {prediction.microarchitecture}"
    yield f"<details><summary>{html.escape(printable(name))}</summary>"
    yield ""
    for sentence in (*wording.explanations(prediction), *reservations(prediction)):
        yield f"- {prose(sentence)}"
    for assumption in prediction.assumptions:
        yield f"- {heading(assumption)}: {prose(assumption.message)} (`{assumption.code}`)"
    findings = [
        finding
        for finding in region.findings
        if finding.microarchitecture in ("", prediction.microarchitecture)
    ]
    for place, finding in grouped(region, findings):
        yield f"- {prose(place)}: {prose(finding.message)} (`{finding.code}`)"
    words = vocabulary.of(prediction.microarchitecture)
    if prediction.account is not None:
        account = prediction.account
        parts = [f"{account.used_share:.1%} used"]
        parts += [f"{share:.1%} {words.cause(cause)}" for cause, share in account.causes()]
        yield f"- {words.slots.capitalize()}: {'; '.join(parts)}"
    yield ""
    yield f"| line | instruction | {words.uop} | {words.unit}s | notes |"
    yield "|---:|---|---:|---|---|"
    chain = dependencies(prediction).chain_cycles if "Dependencies" in prediction.bottlenecks else {}
    label = registry.get(prediction.microarchitecture).units.label
    for row in rows(region, prediction):
        notes = list(row.notes)
        if row.kind == "instruction" and row.index in chain:
            notes.append(wording.on_chain(chain[row.index]))
        ports = " ".join(
            f"{label(port)} {uops:.2f}" for port, uops in row.usage.ports.items() if uops >= 0.005
        )
        if row.use:
            yield f"| {prose(wording.short_place(row.statement))} | {code(row.use)} | | | |"
        yield (
            f"| {prose(wording.short_place(row.statement))} | {code(row.text)} "
            f"| {wording.figure(row.usage.issued)} | {ports} | {prose(', '.join(notes))} |"
        )
    yield ""
    yield "</details>"
