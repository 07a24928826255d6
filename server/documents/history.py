"""The figures of each region since its document was opened, with the text that had them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cyclelens.analyzer.insight.work import Pace
from cyclelens.server.documents.baselines import pace_from, pace_to
from cyclelens.server.documents.session import ShownRegion, Snapshot
from msgspec import Struct, convert
from msgspec.structs import replace

MOST = 30
"""Figures kept per region: the first one and the latest ones."""

Key = tuple[str, str]
"""Region and microarchitecture."""


class RegionVersion(Struct, frozen=True):
    """A region's figure and its text at that time."""

    pace: Pace
    text: str
    revision: int | None = None
    """Revision of the document; None: from before a restart of the server."""


class History:
    """Figures by document and region. Figures that agree to two decimals count as one."""

    def __init__(self) -> None:
        self._documents: dict[str, dict[Key, tuple[RegionVersion, ...]]] = {}

    def of(self, snapshot: Snapshot, region: ShownRegion) -> Sequence[RegionVersion]:
        """The versions of a region, oldest first; the last one is the present one."""
        return self._documents.get(snapshot.uri, {}).get(_key(region), ())

    def answered(self, snapshot: Snapshot) -> None:
        """An analysis of the present text arrived."""
        known = self._documents.setdefault(snapshot.uri, {})
        for region in snapshot.regions:
            if region.stale or region.result.cycles is None:
                continue
            key = _key(region)
            version = RegionVersion(
                Pace(region.result.cycles, region.result.work), text_of(snapshot, region), snapshot.revision
            )
            versions = known.get(key, ())
            last = versions[-1] if versions else None
            if last is not None and last.revision == snapshot.revision:
                # A later answer for the same text replaces the earlier one.
                versions = versions[:-1]
                last = versions[-1] if versions else None
            cycles, work = f"{version.pace.cycles:.2f}", version.pace.work
            if last is not None and (f"{last.pace.cycles:.2f}", last.pace.work) == (cycles, work):
                known[key] = (*versions[:-1], replace(last, revision=snapshot.revision))
            else:
                known[key] = (*versions[:1], *versions[1:][2 - MOST :], version)

    def forget(self, uri: str) -> None:
        """Drop a closed document; unknown ones are ignored."""
        self._documents.pop(uri, None)

    def state(self, uri: str) -> list[dict[str, Any]]:
        """The history of a document as plain JSON values."""
        return [
            {
                "region": region,
                "microarchitecture": microarchitecture,
                "versions": [{"pace": pace_to(each.pace), "text": each.text} for each in versions],
            }
            for (region, microarchitecture), versions in self._documents.get(uri, {}).items()
        ]

    def restore(self, uri: str, state: Sequence[Mapping[str, Any]]) -> None:
        """Restore what ``state`` returned. Raises ValueError, TypeError or KeyError for anything else."""
        self._documents[uri] = {
            (each["region"], each["microarchitecture"]): tuple(
                RegionVersion(pace_from(version["pace"]), convert(version["text"], str))
                for version in each["versions"]
            )
            for each in state
        }


def text_of(snapshot: Snapshot, region: ShownRegion) -> str:
    """The lines of a region."""
    return "\n".join(snapshot.lines[region.result.first_line : region.result.last_line + 1])


def _key(region: ShownRegion) -> Key:
    return region.result.name, region.result.microarchitecture
