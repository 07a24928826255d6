"""Results of running regions on this machine, and the user's permission to run them."""

from __future__ import annotations

from cyclelens.analyzer.comparisons.table import ComparisonTable
from cyclelens.server.documents.session import Snapshot
from cyclelens.server.worker_messages.results import MEASURE


class StoredMeasurements:
    """Results by document, region and job. Any edit invalidates them."""

    def __init__(self) -> None:
        self.allowed = False
        """The user has agreed to run code; holds until the server ends."""
        self._found: dict[str, tuple[int, dict[tuple[str, str], ComparisonTable]]] = {}

    def put(self, snapshot: Snapshot, region: str, found: ComparisonTable, job: str = MEASURE) -> None:
        """Store the result for a region of this revision."""
        revision, regions = self._found.get(snapshot.uri, (-1, {}))
        known = regions if revision == snapshot.revision else {}
        self._found[snapshot.uri] = (snapshot.revision, {**known, (region, job): found})

    def get(self, snapshot: Snapshot, region: str, job: str = MEASURE) -> ComparisonTable | None:
        """The result for a region; None if there is none since the last edit."""
        revision, regions = self._found.get(snapshot.uri, (-1, {}))
        return regions.get((region, job)) if revision == snapshot.revision else None

    def forget(self, uri: str) -> None:
        """Drop a closed document; unknown ones are ignored."""
        self._found.pop(uri, None)
