"""What running regions on this machine has shown, and that the user allowed it to be tried."""

from __future__ import annotations

from cyclelens.analyzer.comparisons.table import ComparisonTable
from cyclelens.server.documents.session import Snapshot
from cyclelens.server.worker_messages.results import MEASURE


class Measurements:
    """Answers by document, region and job. After any edit they are about another text."""

    def __init__(self) -> None:
        self.allowed = False
        """The user was asked whether code may be run, and agreed; for as long as the server lives."""
        self._found: dict[str, tuple[int, dict[tuple[str, str], ComparisonTable]]] = {}

    def put(self, snapshot: Snapshot, region: str, found: ComparisonTable, job: str = MEASURE) -> None:
        """Keep what was found for a region of this revision."""
        revision, regions = self._found.get(snapshot.uri, (-1, {}))
        known = regions if revision == snapshot.revision else {}
        self._found[snapshot.uri] = (snapshot.revision, {**known, (region, job): found})

    def get(self, snapshot: Snapshot, region: str, job: str = MEASURE) -> ComparisonTable | None:
        """What was found for a region, None if nothing was since the last edit."""
        revision, regions = self._found.get(snapshot.uri, (-1, {}))
        return regions.get((region, job)) if revision == snapshot.revision else None

    def forget(self, uri: str) -> None:
        """A document was closed; unknown ones are ignored."""
        self._found.pop(uri, None)
