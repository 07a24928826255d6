"""What regions really took on this machine, and that the user allowed it to be tried."""

from __future__ import annotations

from cyclelens.analyzer.comparisons.table import Table
from cyclelens.server.session import Snapshot

TASK = "measure"
"""The job that measures a region."""


class Measurements:
    """Figures by document and region. After any edit they are about another text."""

    def __init__(self) -> None:
        self.allowed = False
        """The user was asked whether code may be run, and agreed; for as long as the server lives."""
        self._found: dict[str, tuple[int, dict[str, Table]]] = {}

    def put(self, snapshot: Snapshot, region: str, measured: Table) -> None:
        """Keep what was found for a region of this revision."""
        revision, regions = self._found.get(snapshot.uri, (-1, {}))
        known = regions if revision == snapshot.revision else {}
        self._found[snapshot.uri] = (snapshot.revision, {**known, region: measured})

    def get(self, snapshot: Snapshot, region: str) -> Table | None:
        """What was found for a region, None if nothing was since the last edit."""
        revision, regions = self._found.get(snapshot.uri, (-1, {}))
        return regions.get(region) if revision == snapshot.revision else None

    def forget(self, uri: str) -> None:
        """A document was closed; unknown ones are ignored."""
        self._found.pop(uri, None)
