"""The worker's task that searches for rewrites and costs, one region after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from cyclelens.analyzer.compiling.analyzer import CompiledAnalyzer
from cyclelens.analyzer.compiling.projects import language
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.engine.workspace import Workspace
from cyclelens.analyzer.facts.store import FactsStore
from cyclelens.analyzer.frontend.source.surroundings import words_around
from cyclelens.analyzer.model.result import Analysis, RegionAnalysis
from cyclelens.analyzer.rewrites.compiled_loops import as_text, rebuilt
from cyclelens.analyzer.rewrites.search import Advice, search
from cyclelens.server.worker_messages.results import Job, RegionFindings, SearchUpdate
from msgspec.structs import replace

MOST_REGIONS = 40
"""Number of regions of a file that are searched, from the first one on."""
_AROUND = 3
"""Lines above and below a region that a rewrite may change."""
Key = tuple[str, str]


class Searcher:
    """Searches regions, and caches the results for the last texts."""

    def __init__(self, store: FactsStore) -> None:
        self._analyzer = Analyzer(Workspace(store))
        self._compiled = CompiledAnalyzer(Workspace(store, cached_predictions=MOST_REGIONS))
        self._known: dict[Key, tuple[tuple[object, ...], int, RegionFindings]] = {}
        """(Document, region) -> what the result depends on, the region's first line, and the result."""

    def run(self, job: Job, cancel: Callable[[], bool]) -> Iterator[SearchUpdate | None]:
        """Yield successively better results; None means that the search continues."""
        options = replace(job.options, detail=replace(job.options.detail, prices=True, quick=False))
        source = bool(language(job.options.source.origin.path))
        analyzer = self._compiled if source else self._analyzer
        analysis = analyzer.analyze(job.text, options, cancel)
        yield None
        regions = [region for region in analysis.regions if region.predictions][:MOST_REGIONS]
        names = {(job.uri, region.region.name) for region in regions}
        self._known = {key: known for key, known in self._known.items() if key[0] != job.uri or key in names}
        for region in regions:
            if source:
                yield from self._search_compiled(job, region, cancel)
            else:
                yield from self._search(job, analysis, region, cancel)

    def _search_compiled(
        self, job: Job, region: RegionAnalysis, cancel: Callable[[], bool]
    ) -> Iterator[SearchUpdate | None]:
        """Search for rewrites of the loop's machine code. None of them is an edit of the source."""
        name, key = region.region.name, (job.uri, region.region.name)
        cycles = region.predictions[0].shown_cycles
        state = region.version, as_text(region)
        known = self._known.get(key)
        if known is not None and known[0] == state:
            yield SearchUpdate({name: known[2]})
            return
        found = RegionFindings(cycles, Advice(name, cycles), _costs(region))
        yield SearchUpdate({name: found})
        loop = rebuilt(self._analyzer, region, job.options, cancel)
        if loop is not None:
            text, options, alone = loop
            for advice in search(self._analyzer, text, options, "intel", alone, cancel):
                if advice is None:
                    yield None
                    continue
                found = replace(found, advice=replace(advice, region=name))
                yield SearchUpdate({name: found})
        self._known[key] = state, 0, found

    def _search(
        self, job: Job, analysis: Analysis, region: RegionAnalysis, cancel: Callable[[], bool]
    ) -> Iterator[SearchUpdate | None]:
        place, prediction = region.region, region.predictions[0]
        key = job.uri, place.name
        state = _state(tuple(job.text.split("\n")), region)
        known = self._known.get(key)
        if known is not None and known[0] == state:
            lines = place.first_line - known[1]
            self._known[key] = state, place.first_line, known[2].moved(lines)
            yield SearchUpdate({place.name: self._known[key][2]})
            return
        cycles = prediction.shown_cycles
        found = RegionFindings(cycles, Advice(place.name, cycles), _costs(region))
        yield SearchUpdate({place.name: found})
        for advice in search(self._analyzer, job.text, job.options, analysis.dialect, region, cancel):
            if advice is None:
                yield None
                continue
            found = replace(found, advice=advice)
            yield SearchUpdate({place.name: found})
        self._known[key] = state, place.first_line, found


def _state(lines: tuple[str, ...], region: RegionAnalysis) -> tuple[object, ...]:
    """Everything that the rewrites of a region depend on: its analysis, its text and the lines right above
    and below it, and the words of the surrounding function."""
    place = region.region
    first, last = place.first_line, place.last_line
    text = lines[max(first - _AROUND, 0) : last + 1 + _AROUND]
    return region.version, text, words_around(lines, first, last)


def _costs(region: RegionAnalysis) -> dict[tuple[str, int], tuple[float, str]]:
    """The costs of findings: the largest of several of one kind on a line; none if the message already states
    it."""
    costs: dict[tuple[str, int], tuple[float, str]] = {}
    for finding in region.findings:
        statement = region.region.lines[region.instruction_lines[finding.instruction]]
        own = finding.microarchitecture in ("", region.predictions[0].microarchitecture)
        if finding.cost is not None and own and finding.price:
            key = finding.code, statement.line - region.region.first_line
            costs[key] = max((finding.cost, finding.price), costs.get(key, (0.0, "")))
    return costs
