"""Background searches, run once everything is shown: rewrites that make regions faster, and what each finding
costs.

They run in a worker process of their own at low priority, so no hint waits for them. The next edit ends the
search.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from cyclelens.analyzer.model.analysis_options import AnalysisOptions
from cyclelens.analyzer.model.source import Problem
from cyclelens.analyzer.rewrites.proposal import Fix
from cyclelens.analyzer.rewrites.search import Advice
from cyclelens.server.documents.session import ShownRegion, Snapshot
from cyclelens.server.worker_messages.results import SEARCH, Job, JobResult, RegionFindings, SearchUpdate
from cyclelens.server.workers.jobs import JobFailure, Jobs
from cyclelens.server.workers.schedule import Priority
from msgspec import Struct, field


class _RegionSearch(Struct, frozen=True):
    revision: int
    regions: Mapping[str, RegionFindings] = field(default_factory=dict)
    present: frozenset[str] = frozenset()
    """Regions searched in the text of this revision, not an earlier one."""


class Searches:
    """One search per document, and its results."""

    def __init__(
        self,
        factory: str,
        options: Callable[[Snapshot], AnalysisOptions],
        found: Callable[[str, bool], None],
        log: Callable[[str], None],
    ) -> None:
        """``found`` is called with a document that has new results, and whether its advice changed. ``log``
        receives internal errors."""
        self.jobs = Jobs(self._answered, self._in_trouble, factory=factory, background=True)
        self._options = options
        self._found = found
        self._log = log
        self._known: dict[str, _RegionSearch] = {}

    def begin(self, snapshot: Snapshot) -> None:
        """Search an analysed text; does nothing if this revision is being searched already."""
        known = self._known.get(snapshot.uri)
        if known is not None and known.revision == snapshot.revision:
            return
        self._known[snapshot.uri] = _RegionSearch(snapshot.revision, known.regions if known else {})
        options = self._options(snapshot)

        def job(identifier: int) -> Job:
            return Job(identifier, snapshot.uri, snapshot.revision, snapshot.text, options, task=SEARCH)

        self.jobs.submit(snapshot.uri, job, Priority.SEARCH)

    def stop(self, uri: str) -> None:
        """The text has changed: stop its search, but keep the earlier findings until new ones replace
        them."""
        self.jobs.forget(uri)

    def again(self, uri: str) -> None:
        """The settings changed: drop the findings."""
        self.jobs.forget(uri)
        self._known.pop(uri, None)

    def advice(self, snapshot: Snapshot, region: ShownRegion) -> Advice | None:
        """The rewrites that make a region faster, while its figure is unchanged; None if no rewrite is
        known."""
        searched = self._of(snapshot, region)
        return searched.advice if searched is not None and searched.advice.fixes else None

    def fixes(self, snapshot: Snapshot, region: ShownRegion) -> tuple[Fix, ...]:
        """Rewrites that fit the present text; empty for a source, because its advice is about machine
        code."""
        if snapshot.language:
            return ()
        known, advice = self._known.get(snapshot.uri), self.advice(snapshot, region)
        if not known or not advice or known.revision != snapshot.revision:
            return ()
        return advice.fixes if region.result.name in known.present else ()

    def runs(self, snapshot: Snapshot) -> bool:
        """Whether the search of the present text has not ended."""
        return self.jobs.expects(snapshot.uri)

    def cost(self, snapshot: Snapshot, region: ShownRegion, finding: Problem) -> tuple[float, str] | None:
        """The cost of a finding in cycles per iteration and the sentence that states it; None while it is
        unknown."""
        searched = self._of(snapshot, region)
        key = finding.code, finding.line - region.result.first_line
        return None if searched is None else searched.costs.get(key)

    def _of(self, snapshot: Snapshot, region: ShownRegion) -> RegionFindings | None:
        known = self._known.get(snapshot.uri)
        searched = known and known.regions.get(region.result.name)
        if not searched or region.stale or searched.cycles != region.result.cycles:
            return None
        return searched

    def _answered(self, job: Job, reply: JobResult) -> None:
        known = self._known.get(job.uri)
        if reply.error:
            self._log(f"The search for rewrites failed:\n{reply.error}")
        elif isinstance(reply.result, SearchUpdate) and known is not None and known.revision == job.revision:
            # Regions that have not been searched yet keep their earlier findings.
            new = reply.result.regions
            present = known.present | new.keys()
            self._known[job.uri] = _RegionSearch(job.revision, {**known.regions, **new}, present)
            before = {name: each.advice for name, each in known.regions.items()}
            advised = any(str(each.advice) != str(before.get(name, "")) for name, each in new.items())
            if advised or any(each.costs for each in new.values()):
                self._found(job.uri, advised)

    def _in_trouble(self, job: Job | None, trouble: JobFailure) -> None:
        self._log(f"The search for rewrites was stopped: {trouble}.")
