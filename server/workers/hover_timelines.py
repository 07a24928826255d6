"""Timelines for hovers, drawn when one is asked for: an edit never waits for them."""

from __future__ import annotations

from collections.abc import Callable

from cyclelens.analyzer.engine.experiments import traced
from cyclelens.analyzer.engine.workspace import Workspace
from cyclelens.analyzer.model.options import ModelOptions
from cyclelens.analyzer.model.result import Analysis, Prediction, RegionAnalysis
from cyclelens.analyzer.reports import hover_timeline
from cyclelens.server.worker_messages.results import Job, TimelineQuestion
from msgspec import Struct

_KEPT_TEXTS = 8


class _AnalysedText(Struct, frozen=True):
    """An analysed text."""

    revision: int
    options: ModelOptions
    analysis: Analysis


class HoverTimelines:
    """The latest analyses of texts, and the trace of the region that was hovered last."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._texts: dict[str, _AnalysedText] = {}
        self._last: tuple[RegionAnalysis, Prediction] | None = None

    def remember(self, job: Job, analysis: Analysis) -> None:
        """A text has been analysed. Those analysed longest ago are forgotten."""
        self._texts.pop(job.uri, None)
        self._texts[job.uri] = _AnalysedText(job.revision, job.options.target.model, analysis)
        for uri in list(self._texts)[:-_KEPT_TEXTS]:
            del self._texts[uri]

    def knows(self, job: Job) -> bool:
        """Whether this revision of the text has been analysed and is not forgotten."""
        known = self._texts.get(job.uri)
        return known is not None and known.revision == job.revision

    def answer(self, question: TimelineQuestion, cancel: Callable[[], bool]) -> str:
        """Markdown for a line: one iteration on a region's first line, two around an instruction elsewhere.

        Empty if the region or the instruction is not known, or the region has no figure. Raises KeyError
        unless the worker ``knows`` the text, and ``Cancelled``.
        """
        text = self._texts[question.job.uri]
        named = (each for each in text.analysis.regions if each.region.name == question.region)
        region = next(named, None)
        if region is None or not region.predictions:
            return ""
        if question.line == region.region.first_line:
            return hover_timeline.iteration(region, self._traced(text, region, cancel))
        for index, statement in enumerate(region.instruction_lines):
            if region.region.lines[statement].line == question.line:
                return hover_timeline.around(region, self._traced(text, region, cancel), index)
        return ""

    def _traced(self, text: _AnalysedText, region: RegionAnalysis, cancel: Callable[[], bool]) -> Prediction:
        if self._last is None or self._last[0] is not region:
            prediction = traced(self._workspace, region, region.predictions[0], text.options, cancel)
            self._last = region, prediction
        return self._last[1]
