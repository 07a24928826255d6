"""Results of regions for the editor, made from the analyzer's and kept by what they depend on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from cyclelens.analyzer.common.recent import Caches, ContentNumbers
from cyclelens.analyzer.compiling.projects import language
from cyclelens.analyzer.hints import heat
from cyclelens.analyzer.hints import region as region_hint
from cyclelens.analyzer.hints import registry as hint_kinds
from cyclelens.analyzer.insight import as_written, label
from cyclelens.analyzer.insight.assumptions import one_position
from cyclelens.analyzer.insight.confidence import shows_at_least
from cyclelens.analyzer.insight.findings import at_statement
from cyclelens.analyzer.insight.work import work_of
from cyclelens.analyzer.model.result import Analysis, Hint, RegionAnalysis
from cyclelens.analyzer.model.simulation import TraceRow
from cyclelens.analyzer.model.source import Problem, Severity
from cyclelens.analyzer.reports import json, timeline
from cyclelens.analyzer.reports.card import instruction_cards, line_cards, region_card
from cyclelens.analyzer.rewrites.proposal import Fix
from cyclelens.server.worker_messages.results import Job, RegionResult, TimelineResult
from msgspec import Struct, field
from msgspec.structs import astuple, replace

TIMELINE_ROUNDS = 3
"""Number of iterations that the request ``cyclelens/timeline`` shows, starting with the first."""

_QUIET = frozenset({region_hint.KIND})
"""Kinds of hints for unmarked loops, if the text has many of them."""

_FEW_LOOPS = 8
"""Most unmarked loops of a text that have all hints and lenses. Output of compilers may have hundreds."""

_KEPT_TEXTS = 8
"""Texts whose results are kept."""

_Stage = tuple[str, str]
"""Step and region."""


class _TextResults(Struct):
    """Cached results of one text."""

    results: dict[_Stage, tuple[object, RegionResult]] = field(default_factory=dict)
    """(step, region) -> the inputs of a result, and the result."""
    fixes: dict[str, tuple[int, int, tuple[Fix, ...]]] = field(default_factory=dict)
    """Region -> its version and first line when its rewrites were found, and the rewrites."""


class RegionResults:
    """Results of the latest version of each text, by step and region. A region with the version and place
    of its last result keeps that result."""

    def __init__(self) -> None:
        self._caches = Caches()
        self._numbers = ContentNumbers(self._caches)
        self._texts: dict[str, _TextResults] = {}
        """Results by document; the one edited last is at the end."""

    def begin(self, job: Job) -> None:
        """A job about a text begins. The results of the texts edited longest ago are forgotten, even if a job
        about them has paused: they are made anew then."""
        self._caches.next_text()
        self._texts[job.uri] = self._texts.pop(job.uri, _TextResults())
        for uri in list(self._texts)[:-_KEPT_TEXTS]:
            del self._texts[uri]

    def brief(self, analysis: Analysis, job: Job) -> list[RegionResult]:
        """What the text shows, and the hovers of the regions' first lines."""
        return [
            self._kept("brief", region, analysis, job, partial(_brief, region, analysis, job))
            for region in analysis.regions
        ]

    def detailed(
        self, analysis: Analysis, job: Job, brief: Sequence[RegionResult], early: Analysis
    ) -> list[RegionResult]:
        """The results with hover cards, timelines and plain data. ``brief``: those of the ``early``
        analysis, which are completed unless they are about one position and the new ones about all."""
        made = []
        for region, before, first in zip(analysis.regions, brief, early.regions, strict=True):
            start = None if any(map(one_position, first.predictions)) else before
            make = partial(_detailed, start, region, analysis, job)
            made.append(self._kept("detailed", region, analysis, job, make))
        return made

    def with_fixes(
        self,
        before: RegionResult,
        region: RegionAnalysis,
        analysis: Analysis,
        job: Job,
        search: Callable[[], tuple[Fix, ...]],
    ) -> RegionResult:
        """The result with rewrites. They are searched once for each version of a region, and move with it."""
        name, first_line = region.region.name, region.region.first_line
        text = self._text(job)
        known = text.fixes.get(name)
        if known is None or known[0] != region.version:
            known = text.fixes[name] = region.version, first_line, search()
        _, line, fixes = known
        if not fixes:
            return before
        moved = tuple(fix.moved(first_line - line) for fix in fixes)
        return self._kept("fixed", region, analysis, job, lambda: replace(before, fixes=moved))

    def end(self, job: Job, analysis: Analysis) -> None:
        """The job is done: forget the regions that its text no longer has."""
        names = {region.region.name for region in analysis.regions}
        text = self._text(job)
        text.results = {key: each for key, each in text.results.items() if key[1] in names}
        text.fixes = {name: each for name, each in text.fixes.items() if name in names}

    def _text(self, job: Job) -> _TextResults:
        return self._texts.setdefault(job.uri, _TextResults())

    def _kept(
        self,
        step: str,
        region: RegionAnalysis,
        analysis: Analysis,
        job: Job,
        make: Callable[[], RegionResult],
    ) -> RegionResult:
        """The last result of this step if it depends on the same, else a new one with versions of its own."""
        key = step, region.region.name
        depends = (
            region.version,
            region.region.first_line,
            job.hint_kinds,
            analysis.dialect,
            analysis.unmarked,
            is_quiet(analysis),
        )
        results = self._text(job).results
        known = results.get(key)
        if known is None or known[0] != depends:
            made = make()
            bars = tuple(hint for hint in made.hints if hint.kind == heat.KIND)
            others = tuple(hint for hint in made.hints if hint.kind != heat.KIND)
            screen = (
                made.name,
                made.first_line,
                made.last_line,
                made.labels,
                made.note,
                others,
                made.findings,
            )
            made = replace(
                made,
                version=self._numbers.new(),
                screen=self._numbers.of(screen),
                bars=self._numbers.of(bars),
            )
            # Kept at once: the next edit may come before the rest is done.
            known = results[key] = depends, made
        return known[1]


_NOT_RUN = frozenset({"assembler-unavailable", "not-preprocessed"})
"""Programs that should have read the file; the consequences of their absence are not reported again."""


def problems_of(analysis: Analysis) -> tuple[Problem, ...]:
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


def _brief(region: RegionAnalysis, analysis: Analysis, job: Job) -> RegionResult:
    """The result with what the text shows and the hover on the region's first line."""
    alone = replace(analysis, regions=(region,), problems=())
    primary = region.predictions[0] if region.predictions else None
    asked = region.predictions or region.missing
    return RegionResult(
        name=region.region.name,
        first_line=region.region.first_line,
        last_line=region.region.last_line,
        # That a core lacks an instruction is an answer, too.
        complete=bool(region.predictions or region.missing),
        labels=label.of_region(region),
        cycles=primary.shown_cycles if primary and not shows_at_least(primary) else None,
        work=work_of(region),
        microarchitecture=asked[0].microarchitecture if asked else "",
        note=region.note,
        summary=region_card(region, hurried=True),
        hints=_hints(alone, job, quiet=is_quiet(analysis)),
        findings=()
        if analysis.unmarked
        else tuple(at_statement(region, finding) for finding in region.findings),
        unmarked=analysis.unmarked,
        quiet=is_quiet(analysis),
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
        hints=_hints(alone, job, quiet=is_quiet(analysis)),
        cards=line_cards(region) if language(job.options.source.origin.path) else instruction_cards(region),
        timelines=tuple(_timelines(region)),
        data=json.document(_without_traces(alone), job.uri)["regions"][0],
    )


def is_quiet(analysis: Analysis) -> bool:
    """Whether a text has so many unmarked loops that only their figures are shown."""
    return analysis.unmarked and len(analysis.regions) > _FEW_LOOPS


def _hints(analysis: Analysis, job: Job, *, quiet: bool) -> tuple[Hint, ...]:
    """The hints of the text; if it is ``quiet`` only the figures."""
    return hint_kinds.hints(analysis, _QUIET.intersection(job.hint_kinds) if quiet else job.hint_kinds)


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
