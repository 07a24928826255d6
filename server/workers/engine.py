"""The worker's real engine: one analyzer, and the conversion of its analyses into messages."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial

from cyclelens.analyzer.comparisons.registry import COMPARISONS
from cyclelens.analyzer.comparisons.request import Request
from cyclelens.analyzer.comparisons.table import ComparisonProgress, ComparisonTable
from cyclelens.analyzer.compiling.analyzer import NOT_COMPILED, CompiledAnalyzer
from cyclelens.analyzer.compiling.projects import language
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.engine.experiments import templates
from cyclelens.analyzer.engine.workspace import Workspace
from cyclelens.analyzer.facts.store import FactsStore, open_store
from cyclelens.analyzer.hints import region as region_hint
from cyclelens.analyzer.hints import registry as hint_kinds
from cyclelens.analyzer.insight import as_written, label
from cyclelens.analyzer.insight.assumptions import one_position
from cyclelens.analyzer.insight.confidence import is_lower_bound
from cyclelens.analyzer.insight.findings import at_statement
from cyclelens.analyzer.insight.work import work_of
from cyclelens.analyzer.model.result import Analysis, Hint, RegionAnalysis
from cyclelens.analyzer.model.simulation import TraceRow
from cyclelens.analyzer.model.source import Problem, Severity
from cyclelens.analyzer.reports import json, timeline
from cyclelens.analyzer.reports.card import inlined_card, instruction_cards, line_cards, region_card
from cyclelens.analyzer.rewrites.proposal import Fix
from cyclelens.analyzer.rewrites.registry import fixes
from cyclelens.server.worker_messages.results import (
    ANALYSIS,
    CHECK,
    MEASURE,
    SEARCH,
    FileResult,
    Job,
    RegionResult,
    SearchUpdate,
    TimelineResult,
)
from cyclelens.server.workers.measuring import check, measure
from cyclelens.server.workers.searching import Searcher
from msgspec.structs import astuple, replace

TIMELINE_ROUNDS = 3
"""Number of iterations that the request ``cyclelens/timeline`` shows, starting with the first."""

PATIENCE = 1.0
"""Seconds after which the regions analysed so far are sent, for texts with many regions."""

_OF_SOURCES = ("region", "heat", "chain", "stalls")
"""Kinds of hints that make sense for a source line with many instructions."""

CACHED_PREDICTIONS = 64
"""Minimum number of cached predictions; the analyzer keeps more for large files. Each takes about 40 kB,
because only the rounds of a trace that a timeline shows are kept."""


_QUIET = frozenset({region_hint.KIND})
"""Kinds of hints for unmarked loops."""

_Shown = dict[tuple[object, ...], tuple[RegionAnalysis, RegionResult]]
"""Regions by document, name and everything else that their results depend on."""


class _Clock:
    """Returns True once each time ``PATIENCE`` seconds have passed."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def __call__(self) -> bool:
        now = time.monotonic()
        if now - self._last < PATIENCE:
            return False
        self._last = now
        return True


class AnalyzerEngine:
    """Runs jobs on one analyzer, whose cache makes unchanged regions cheap."""

    def __init__(self, store: FactsStore) -> None:
        self._store = store
        self._analyzer = Analyzer(Workspace(store, cached_predictions=CACHED_PREDICTIONS))
        self._compiled = self._of_sources(CACHED_PREDICTIONS)
        self._shown: _Shown = {}
        """Results of the last text; regions that an edit leaves alone are not converted again."""
        self._fixes: dict[tuple[str, str], tuple[RegionAnalysis, tuple[Fix, ...]]] = {}
        """Rewrites of the last text, by document and region; regions that only moved are not searched
        again."""

        self._searcher: Searcher | None = None
        """Created by the first search; that process then does nothing else."""

    def run(
        self, job: Job, cancel: Callable[[], bool]
    ) -> Iterator[FileResult | ComparisonProgress | ComparisonTable | SearchUpdate | None]:
        """Run a job. An analysis yields first what the text shows; then also timelines and plain data, since
        recording a trace takes several times as long as the simulation; last the rewrites. For texts with
        many regions, the first figures come before the others are ready, and None means that the rest
        continues. Raises what the analyzer raises, including ``Cancelled``."""
        if job.task == SEARCH:
            self._searcher = self._searcher or Searcher(self._store)
            yield from self._searcher.run(job, cancel)
            return
        source = bool(language(job.options.source.origin.path))
        if job.task in (MEASURE, CHECK):
            yield (measure if job.task == MEASURE else check)(self._alone(source), job)
            return
        if job.task != ANALYSIS:
            request = Request(
                self._alone(source),
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
        # The first answer does not wait for the figures of many positions.
        details = [
            replace(job.options.detail, trace=trace, quick=not trace, trace_rounds=TIMELINE_ROUNDS)
            for trace in (False, True)
        ]
        due = _Clock()
        analyzer: Analyzer = self._compiled if source else self._analyzer
        if source:
            job = replace(job, hint_kinds=tuple(kind for kind in job.hint_kinds if kind in _OF_SOURCES))
        analyses = analyzer.in_detail(job.text, job.options, details, cancel, due)
        shown: _Shown = {}

        def put(stage: str, region: RegionAnalysis, make: Callable[[], RegionResult]) -> RegionResult:
            """The region's result; the previous one if nothing has changed."""
            key = (job.uri, job.hint_kinds, analysis.dialect, analysis.unmarked, region.region.name, stage)
            known = self._shown.get(key)
            if known is None or _moved(known[0], region) != 0:
                # Cached at once: the next edit may come before the rest is done.
                known = self._shown[key] = (region, make())
            shown[key] = known
            return known[1]

        for analysis in analyses:
            brief = [
                put("brief", region, partial(_brief, region, analysis, job)) for region in analysis.regions
            ]
            found = FileResult(tuple(brief), _problems(analysis), analysis.dialect, detailed=False)
            failed = next((each.message for each in analysis.problems if each.code == NOT_COMPILED), "")
            yield replace(found, pending=analysis.pending, failed=failed)
            if failed:
                return
            if not analysis.pending:
                break
        whole = [not any(map(one_position, region.predictions)) for region in analysis.regions]
        for analysis in analyses:
            if analysis.pending:
                yield None
        full = [
            put("full", region, partial(_detailed, before if done else None, region, analysis, job))
            for region, before, done in zip(analysis.regions, brief, whole, strict=True)
        ]
        whole_answer = FileResult(tuple(full), _problems(analysis), analysis.dialect)
        if source:
            yield replace(whole_answer, calls=self._calls(analysis, job.options.target.microarchitectures[0]))
            self._shown = shown
            return  # rewrites exist for assembly texts only
        yield whole_answer
        fixed = []
        for region, before in zip(analysis.regions, full, strict=True):
            fixed.append(
                put("fixed", region, partial(self._with_fixes, before, region, analysis, job, cancel))
            )
            if due():
                yield None
        self._shown = shown
        names = {region.region.name for region in analysis.regions}
        self._fixes = {
            key: known for key, known in self._fixes.items() if key[0] == job.uri and key[1] in names
        }
        if any(region.fixes for region in fixed):
            yield FileResult(tuple(fixed), _problems(analysis), analysis.dialect)

    def _calls(self, analysis: Analysis, microarchitecture: str) -> dict[str, str]:
        """What the intrinsics of a source were compiled to."""
        return {
            name: inlined_card(
                name, templates(self._compiled.workspace, codes, microarchitecture), microarchitecture
            )
            for name, codes in analysis.calls.items()
        }

    def _alone(self, source: bool) -> Analyzer:
        """A separate analyzer on the same tables, so that many figures do not evict those of the text."""
        return (
            self._of_sources(1) if source else Analyzer(self._analyzer.workspace.beside(cached_predictions=1))
        )

    def _of_sources(self, cached_predictions: int) -> CompiledAnalyzer:
        return CompiledAnalyzer(Workspace(self._store, cached_predictions=cached_predictions))

    def _with_fixes(
        self,
        result: RegionResult,
        region: RegionAnalysis,
        analysis: Analysis,
        job: Job,
        cancel: Callable[[], bool],
    ) -> RegionResult:
        key = (job.uri, region.region.name)
        known = self._fixes.get(key)
        moved = None if known is None else _moved(known[0], region)
        if known is not None and moved is not None:
            found = tuple(fix.moved(moved) for fix in known[1])
        else:
            # A separate analyzer, so that discarded candidates do not evict what is shown.
            alone = replace(analysis, regions=(region,))
            found = tuple(
                fixes(Analyzer(self._analyzer.workspace.beside()), job.text, job.options, alone, cancel)
            )
        self._fixes[key] = (region, found)
        return replace(result, fixes=found) if found else result


def create() -> AnalyzerEngine:
    """Create the engine on the tables that ship with the program. Raises ``TablesUnavailable``."""
    return AnalyzerEngine(open_store())


_NOT_RUN = frozenset({"assembler-unavailable", "not-preprocessed"})
"""Programs that should have read the file; the consequences of their absence are not reported again."""


def _problems(analysis: Analysis) -> tuple[Problem, ...]:
    """The problems of a text. For a text without markers, only those that keep a loop from being analysed, at
    most as information."""
    if not analysis.unmarked:
        return analysis.problems
    unread = any(not region.predictions and not region.missing for region in analysis.regions)
    return tuple(
        replace(problem, severity=Severity.INFORMATION)
        for problem in analysis.problems
        if problem.severity is Severity.ERROR or (unread and problem.code in _NOT_RUN)
    )


def _moved(known: RegionAnalysis, region: RegionAnalysis) -> int | None:
    """Number of lines by which a region has moved, if nothing else has changed: neither its text nor any
    prediction, which the analyzer caches. None if anything else has changed."""
    if known.note != region.note or known.weight != region.weight:
        return None
    if known.versions != region.versions:
        return None
    # The offset in the section only locates counts in a profile, and the weight already reflects those.
    place = replace(known.region, offsets=region.region.offsets)
    shift = region.region.first_line - place.first_line
    if shift:
        lines = tuple(replace(line, line=line.line + shift) for line in place.lines)
        place = replace(
            place, first_line=place.first_line + shift, last_line=place.last_line + shift, lines=lines
        )
    return shift if place == region.region else None


def _brief(region: RegionAnalysis, analysis: Analysis, job: Job) -> RegionResult:
    """The result with what the text shows and the hover on the region's first line."""
    alone = replace(analysis, regions=(region,), problems=())
    primary = region.predictions[0] if region.predictions else None
    asked = region.predictions or region.missing
    quiet = analysis.unmarked
    return RegionResult(
        name=region.region.name,
        first_line=region.region.first_line,
        last_line=region.region.last_line,
        # That a core lacks an instruction is an answer, too.
        complete=bool(region.predictions or region.missing),
        labels=label.of_region(region),
        cycles=primary.cycles_per_iteration if primary and not is_lower_bound(primary) else None,
        work=work_of(region),
        microarchitecture=asked[0].microarchitecture if asked else "",
        note=region.note,
        summary=region_card(region, hurried=True),
        hints=_hints(alone, job),
        findings=() if quiet else tuple(at_statement(region, finding) for finding in region.findings),
        unmarked=quiet,
    )


def _detailed(
    brief: RegionResult | None, region: RegionAnalysis, analysis: Analysis, job: Job
) -> RegionResult:
    """The result with the parts that take longer to make than a typing user wants to wait. ``brief`` is None
    if its figures were for one position and now cover all."""
    alone = replace(analysis, regions=(region,), problems=())
    return replace(
        brief or _brief(region, analysis, job),
        labels=label.of_region(region),
        summary=region_card(region),
        hints=_hints(alone, job),
        cards=line_cards(region) if language(job.options.source.origin.path) else instruction_cards(region),
        timelines=tuple(_timelines(region)),
        data=json.document(_without_traces(alone), job.uri)["regions"][0],
    )


def _hints(analysis: Analysis, job: Job) -> tuple[Hint, ...]:
    """The hints of the text; for unmarked loops only the figures."""
    return hint_kinds.hints(
        analysis, _QUIET.intersection(job.hint_kinds) if analysis.unmarked else job.hint_kinds
    )


def _timelines(region: RegionAnalysis) -> Iterator[TimelineResult]:
    for prediction in region.predictions:
        trace = prediction.simulation.trace
        if trace is not None:
            texts = as_written.texts(region, prediction)
            yield TimelineResult(
                microarchitecture=prediction.microarchitecture,
                cycles_per_iteration=prediction.cycles_per_iteration,
                text=timeline.render(prediction, TIMELINE_ROUNDS, texts=texts),
                instructions=texts,
                columns=TraceRow.__struct_fields__,
                rows=tuple(map(astuple, trace.rows)),
            )


def _without_traces(analysis: Analysis) -> Analysis:
    """The analysis without the thousands of trace rows, which clients request separately."""
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
