"""The real engine of the worker: one analyzer, and its analyses put into the words that are sent back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from cyclelens.analyzer.api import Analyzer
from cyclelens.analyzer.comparisons.registry import COMPARISONS
from cyclelens.analyzer.comparisons.request import Request
from cyclelens.analyzer.comparisons.table import Step, Table
from cyclelens.analyzer.facts.store import FactsStore, open_store
from cyclelens.analyzer.fixes.proposal import Fix
from cyclelens.analyzer.fixes.registry import fixes
from cyclelens.analyzer.hints import registry as hint_kinds
from cyclelens.analyzer.insight import wording
from cyclelens.analyzer.model.result import Analysis, Finding, RegionAnalysis, TraceRow
from cyclelens.analyzer.model.source import Problem
from cyclelens.analyzer.reports import json, timeline
from cyclelens.analyzer.reports.card import instruction_card, region_card
from cyclelens.server.results import ANALYSIS, FileResult, Job, RegionResult, TimelineResult

TIMELINE_ROUNDS = 3
"""Iterations that a timeline shows; more do not fit into a hover."""

CACHED_PREDICTIONS = 64
"""At least; for large files the analyzer keeps more. Some 40 kB each: of a trace only the rounds that a
timeline shows are kept."""


_Shown = dict[tuple[object, ...], tuple[RegionAnalysis, RegionResult]]
"""Regions by document, name and all else that their results depend on."""


class AnalyzerEngine:
    """Runs jobs on one analyzer, whose cache makes unchanged regions cheap."""

    def __init__(self, store: FactsStore) -> None:
        self._store = store
        self._analyzer = Analyzer(store, cached_predictions=CACHED_PREDICTIONS)
        self._shown: _Shown = {}
        """Of the last text: what an edit leaves alone is not put into words again."""

    def run(self, job: Job, cancel: Callable[[], bool]) -> Iterator[FileResult | Step | Table]:
        """Analyse a text: first what is shown within it; then also timelines and plain data, because
        recording a trace takes several times as long as the simulation itself, and nobody waits for them;
        last with the rewrites that help. Raises whatever the analyzer raises, ``Cancelled`` among it."""
        if job.task != ANALYSIS:
            # An analyzer of its own on the same tables: many figures must not push out those of the text.
            analyzer = Analyzer(self._store, cached_predictions=1)
            request = Request(
                analyzer,
                job.text,
                job.options,
                job.region,
                job.other,
                job.path,
                html=job.html,
                cancel=cancel,
            )
            yield from COMPARISONS[job.task](request)
            return
        variants = [
            replace(job.options, trace=trace, trace_rounds=TIMELINE_ROUNDS) for trace in (False, True)
        ]
        analyses = self._analyzer.variants(job.text, variants, cancel)
        shown: _Shown = {}
        analysis = next(analyses)
        brief = [self._put(region, None, analysis, job, shown) for region in analysis.regions]
        self._shown |= shown  # at once: the next edit may come before the rest is done
        yield FileResult(tuple(brief), analysis.problems, analysis.dialect, detailed=False)
        analysis = next(analyses)
        full = [
            self._put(region, known, analysis, job, shown)
            for region, known in zip(analysis.regions, brief, strict=True)
        ]
        answer = FileResult(tuple(full), analysis.problems, analysis.dialect)
        yield answer
        self._shown = shown
        # An analyzer of its own: what is tried and thrown away must not push out what is shown.
        found = tuple(fixes(Analyzer(self._store), job.text, job.options, analysis, cancel))
        if found:
            yield replace(answer, regions=tuple(_with_fixes(region, found) for region in answer.regions))

    def _put(
        self, region: RegionAnalysis, brief: RegionResult | None, analysis: Analysis, job: Job, shown: _Shown
    ) -> RegionResult:
        """The region put into words, or the words of last time if nothing has changed; noted in ``shown``.

        ``brief``: what the first answer said about the region; None while that is being made.
        """
        key = (job.uri, job.hint_kinds, analysis.dialect, region.region.name, brief is None)
        known = self._shown.get(key)
        if known is None or not _is_same(known[0], region):
            result = (
                _brief(analysis, region, job) if brief is None else _detailed(brief, analysis, region, job)
            )
            known = (region, result)
        shown[key] = known
        return known[1]


def create() -> AnalyzerEngine:
    """The engine on the tables that ship with the program. Raises ``TablesUnavailable``."""
    return AnalyzerEngine(open_store())


def _is_same(known: RegionAnalysis, region: RegionAnalysis) -> bool:
    """Nothing has changed: neither text nor place nor, which the analyzer remembers, any prediction."""
    return (
        known.region == region.region
        and known.note == region.note
        and len(known.predictions) == len(region.predictions)
        and all(old is new for old, new in zip(known.predictions, region.predictions, strict=True))
    )


def _brief(analysis: Analysis, region: RegionAnalysis, job: Job) -> RegionResult:
    """What the text and its hovers show."""
    alone = replace(analysis, regions=(region,), problems=())
    primary = region.predictions[0] if region.predictions else None
    return RegionResult(
        name=region.region.name,
        first_line=region.region.first_line,
        last_line=region.region.last_line,
        complete=bool(region.predictions),
        headline=", ".join(
            f"{prediction.cycles_per_iteration:.2f} cycles/iter · {prediction.microarchitecture}"
            f" · {wording.bound_by(prediction.bottlenecks)}"
            for prediction in region.predictions
        ),
        cycles=primary.cycles_per_iteration if primary else None,
        microarchitecture=primary.microarchitecture if primary else "",
        note=region.note,
        summary=region_card(region),
        hints=hint_kinds.hints(alone, job.hint_kinds),
        cards=_cards(region),
        findings=tuple(_problem(region, finding) for finding in region.findings),
    )


def _detailed(brief: RegionResult, analysis: Analysis, region: RegionAnalysis, job: Job) -> RegionResult:
    """The same with what takes longer to make than somebody who types wants to wait."""
    alone = replace(analysis, regions=(region,), problems=())
    return replace(
        brief,
        timelines=tuple(_timelines(region)),
        data=json.document(_without_traces(alone), job.uri)["regions"][0],
    )


def _with_fixes(region: RegionResult, found: Sequence[Fix]) -> RegionResult:
    return replace(region, fixes=tuple(fix for fix in found if fix.region == region.name))


def _cards(region: RegionAnalysis) -> dict[int, str]:
    """Line -> the cards of its instructions, one below the other; repeated ones (``.rept``) once."""
    lines: dict[int, list[str]] = {}
    for index, statement in enumerate(region.instruction_lines):
        cards = lines.setdefault(region.region.lines[statement].line, [])
        card = instruction_card(region, index)
        if card and card not in cards:
            cards.append(card)
    return {line: "\n\n---\n\n".join(cards) for line, cards in lines.items()}


def _problem(region: RegionAnalysis, finding: Finding) -> Problem:
    """A finding as a problem at its statement; it names the CPU if that is not the primary one."""
    statement = region.region.lines[region.instruction_lines[finding.instruction]]
    primary = region.predictions[0].microarchitecture if region.predictions else ""
    prefix = f"{finding.microarchitecture}: " if finding.microarchitecture not in ("", primary) else ""
    return Problem(
        line=statement.line,
        column=statement.column,
        end_column=statement.end_column,
        code=finding.code,
        message=prefix + finding.message,
        severity=finding.severity,
    )


def _timelines(region: RegionAnalysis) -> Iterator[TimelineResult]:
    for prediction in region.predictions:
        trace = prediction.simulation.trace
        if trace is not None:
            yield TimelineResult(
                microarchitecture=prediction.microarchitecture,
                cycles_per_iteration=prediction.cycles_per_iteration,
                text=timeline.render(prediction, TIMELINE_ROUNDS),
                instructions=tuple(template.instruction.text for template in prediction.instructions),
                columns=TraceRow._fields,
                rows=tuple(tuple(row) for row in trace.rows),
            )


def _without_traces(analysis: Analysis) -> Analysis:
    """Thousands of rows that a client asks for separately."""
    return replace(
        analysis,
        regions=tuple(
            replace(
                region,
                predictions=tuple(
                    replace(prediction, simulation=replace(prediction.simulation, trace=None))
                    for prediction in region.predictions
                ),
            )
            for region in analysis.regions
        ),
    )
