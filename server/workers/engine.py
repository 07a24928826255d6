"""The worker's real engine: one analyzer, and what becomes of each job. ``_edited`` is the way of an edit."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from cyclelens.analyzer.comparisons.registry import COMPARISONS
from cyclelens.analyzer.comparisons.request import ComparisonRequest
from cyclelens.analyzer.comparisons.table import ComparisonProgress, ComparisonTable
from cyclelens.analyzer.compiling.analyzer import NOT_COMPILED, CompiledAnalyzer
from cyclelens.analyzer.compiling.projects import language
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.engine.experiments import templates
from cyclelens.analyzer.engine.workspace import Workspace
from cyclelens.analyzer.facts.store import FactsStore, open_store
from cyclelens.analyzer.model.analysis_options import Detail
from cyclelens.analyzer.model.result import Analysis, RegionAnalysis
from cyclelens.analyzer.reports.card import inlined_card
from cyclelens.analyzer.rewrites.proposal import Fix
from cyclelens.analyzer.rewrites.registry import fixes
from cyclelens.server.worker_messages.results import (
    ANALYSIS,
    CHECK,
    COMPLETE,
    MEASURE,
    SEARCH,
    FileResult,
    Job,
    RegionResult,
    SearchUpdate,
    TimelineQuestion,
)
from cyclelens.server.workers.completing import complete
from cyclelens.server.workers.hover_timelines import HoverTimelines
from cyclelens.server.workers.measuring import check, measure
from cyclelens.server.workers.region_results import TIMELINE_ROUNDS, RegionResults, problems_of
from cyclelens.server.workers.searching import Searcher
from msgspec.structs import replace

PATIENCE = 1.0
"""Seconds after which the regions analysed so far are sent, for texts with many regions."""
TURN = 0.1
"""Seconds after which the figures of another document may come first."""

_OF_SOURCES = ("region", "heat", "chain", "stalls")
"""Kinds of hints that make sense for a source line with many instructions."""

CACHED_PREDICTIONS = 64
"""Minimum number of cached predictions; the analyzer keeps more for large files. Each takes about 40 kB,
because only the rounds of a trace that a timeline shows are kept."""


class _Ticker:
    """Returns True once each time some seconds have passed."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.restart()

    def __call__(self) -> bool:
        if time.monotonic() - self._last < self._seconds:
            return False
        self.restart()
        return True

    def restart(self) -> None:
        """Let them begin now."""
        self._last = time.monotonic()


class AnalyzerEngine:
    """Runs jobs on one analyzer, whose cache makes unchanged regions cheap."""

    def __init__(self, store: FactsStore) -> None:
        self._store = store
        self._analyzer = Analyzer(Workspace(store, cached_predictions=CACHED_PREDICTIONS))
        self._compiled = self._of_sources(CACHED_PREDICTIONS)
        self._results = RegionResults()
        self._hovers = HoverTimelines(self._analyzer.workspace)
        self._searcher: Searcher | None = None
        """Created by the first search; that process then does nothing else."""

    def run(
        self, job: Job, cancel: Callable[[], bool]
    ) -> Iterator[FileResult | ComparisonProgress | ComparisonTable | SearchUpdate | None]:
        """Run a job. None means that more will come. Raises what the analyzer raises, including
        ``Cancelled``."""
        source = bool(language(job.options.source.origin.path))
        if job.task == ANALYSIS:
            yield from self._edited(job, cancel, source)
        elif job.task == SEARCH:
            self._searcher = self._searcher or Searcher(self._store)
            yield from self._searcher.run(job, cancel)
        elif job.task in (MEASURE, CHECK):
            yield (measure if job.task == MEASURE else check)(self._alone(source), job)
        elif job.task == COMPLETE:
            yield from complete(self._alone(source), job, cancel)
        else:
            analyzer, text = self._alone(source), job.text
            request = ComparisonRequest(
                analyzer, text, job.options, job.region, job.other, job.path, html=job.html, cancel=cancel
            )
            yield from COMPARISONS[job.task](request)

    def timeline(self, question: TimelineQuestion, cancel: Callable[[], bool]) -> str:
        """Markdown about a line for a hover; empty if there is nothing to draw. Raises ``Cancelled``."""
        job = question.job
        if not self._hovers.knows(job):
            due = _Ticker(PATIENCE)
            *_, analysis = self._analyzer.in_detail(job.text, job.options, _details(job), cancel, due)
            self._hovers.remember(job, analysis)
        return self._hovers.answer(question, cancel)

    def _edited(self, job: Job, cancel: Callable[[], bool], source: bool) -> Iterator[FileResult | None]:
        """The steps from an edited text to what the editor shows. Each step caches results by their inputs:
        the front end statements and regions, the analyzer answers, ``_results`` the messages. So a step costs
        as much as the change.

        The figures come first, and the worker pauses behind them; then timelines and plain data, since
        recording a trace takes several times as long as the simulation; last the rewrites. For texts with
        many regions, the first figures come before the others are ready.
        """
        due, shown, results = _Ticker(TURN), _Ticker(PATIENCE), self._results
        analyzer = self._compiled if source else self._analyzer
        if source:
            job = replace(job, hint_kinds=tuple(kind for kind in job.hint_kinds if kind in _OF_SOURCES))
        results.begin(job)
        # Text to statements, bytes and regions; each region to figures and their causes. The generator reads
        # the text once and analyses it twice, first in a hurry, then in detail.
        analyses = analyzer.in_detail(job.text, job.options, _details(job), cancel, due)
        for early in analyses:
            if early.pending and not shown():
                yield None
                due.restart()
                continue
            brief = results.brief(early, job)
            failed = next((each.message for each in early.problems if each.code == NOT_COMPILED), "")
            yield _answer(brief, early, detailed=False, pending=early.pending, failed=failed)
            if failed:
                return
            due.restart()
            if not early.pending:
                break
        # A source without a compiler's command has one analysis, which is complete.
        analysis = early
        for analysis in analyses:
            if analysis.pending:
                yield None
        detailed = results.detailed(analysis, job, brief, early)
        if source:  # rewrites exist for assembly texts only
            calls = self._calls(analysis, job.options.target.microarchitectures[0])
            yield _answer(detailed, analysis, calls=calls)
            results.end(job, analysis)
            return
        self._hovers.remember(job, analysis)
        yield _answer(detailed, analysis)
        fixed = []
        for region, before in zip(analysis.regions, detailed, strict=True):
            search = partial(self._fixes, region, analysis, job, cancel)
            fixed.append(results.with_fixes(before, region, analysis, job, search))
            if due():
                yield None
        results.end(job, analysis)
        if any(region.fixes for region in fixed):
            yield _answer(fixed, analysis)

    def _fixes(
        self, region: RegionAnalysis, analysis: Analysis, job: Job, cancel: Callable[[], bool]
    ) -> tuple[Fix, ...]:
        """The rewrites of single statements that help a region."""
        # A separate analyzer, so that discarded candidates do not evict what is shown.
        analyzer = Analyzer(self._analyzer.workspace.beside())
        return tuple(fixes(analyzer, job.text, job.options, replace(analysis, regions=(region,)), cancel))

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


def _details(job: Job) -> tuple[Detail, Detail]:
    """What the first and the second analysis find out. The first one does not wait for the figures of many
    positions."""
    first = replace(job.options.detail, trace=False, quick=True, trace_rounds=TIMELINE_ROUNDS)
    return first, replace(first, trace=True, quick=False)


def _answer(regions: Sequence[RegionResult], analysis: Analysis, **more: Any) -> FileResult:
    return FileResult(tuple(regions), problems_of(analysis), analysis.dialect, **more)


def create() -> AnalyzerEngine:
    """Create the engine on the tables that ship with the program. Raises ``TablesUnavailable``."""
    return AnalyzerEngine(open_store())
