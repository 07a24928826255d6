"""The baselines of regions: their figures at the last save, or pinned ones."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

from cyclelens.analyzer.insight.work import Pace
from cyclelens.analyzer.model.result import Work
from cyclelens.server.documents.session import Snapshot
from cyclelens.server.worker_messages.results import RegionResult
from msgspec import Meta, Struct, convert, field

Key = tuple[str, str]
"""Region and microarchitecture: figures of different processors are never compared."""


_NUMBERED = re.compile(r".*[-.]\d+")
"""A name made from a counter, such as ``region-2`` or ``dot.3``; after an edit it may belong to another
region."""


_PACE = tuple[float, tuple[Annotated[int, Meta(gt=0)], str, str] | None]


class _BaselineFigures(Struct, frozen=True):
    names: tuple[str, ...] = ()
    """Names of all regions of the text, in order."""
    paces: Mapping[Key, Pace] = field(default_factory=dict)
    revision: int | None = None
    """Revision of the text that has these figures; a later answer for it replaces them. None: from before a
    crash."""

    def state(self) -> dict[str, Any]:
        """The figures as plain JSON values."""
        return {
            "names": list(self.names),
            "paces": [[*key, pace_to(pace)] for key, pace in self.paces.items()],
        }

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> _BaselineFigures:
        """The figures that ``state`` holds."""
        paces = {(region, name): pace_from(pace) for region, name, pace in state["paces"]}
        return cls(tuple(state["names"]), paces)


class _Document(Struct):
    saved: _BaselineFigures = _BaselineFigures()
    pinned: _BaselineFigures | None = None
    due: int | None = None
    """Revision whose pending analysis gives the saved figures."""


class Baselines:
    """Figures in cycles per iteration, by document and region. Opening a document counts as saving it."""

    def __init__(self) -> None:
        self._documents: dict[str, _Document] = {}

    def before(self, snapshot: Snapshot, region: RegionResult) -> Pace | None:
        """The figure that a region is compared with; None if there is none, or if it may belong to another
        region."""
        document = self._documents.get(snapshot.uri)
        if document is None:
            return None
        figures = document.saved if document.pinned is None else document.pinned
        if _NUMBERED.fullmatch(region.name) and figures.names != _names(snapshot):
            return None
        return figures.paces.get(_key(region))

    def saved(self, snapshot: Snapshot, *, wait: bool = True) -> None:
        """The text was saved or opened. Its figures become the baseline once its analysis arrives.

        ``wait``: False takes the figures known now, which is right where saving starts the analysis.
        """
        document = self._documents.setdefault(snapshot.uri, _Document())
        if wait and snapshot.analysed != snapshot.revision:
            document.due = snapshot.revision
        else:
            document.saved, document.due = _figures(snapshot, stale=True), None

    def answered(self, snapshot: Snapshot) -> None:
        """An analysis arrived: that of the saved text, the first one after it, or a more complete one of the
        text whose figures are kept."""
        document = self._documents.get(snapshot.uri)
        if document is None:
            return
        if document.due is not None and snapshot.analysed >= document.due:
            document.saved, document.due = _figures(snapshot), None
        elif document.saved.revision == snapshot.analysed:
            document.saved = _figures(snapshot, stale=True)
        if document.pinned is not None and document.pinned.revision == snapshot.analysed:
            document.pinned = _figures(snapshot, stale=True)

    def pin(self, snapshot: Snapshot) -> int:
        """Pin the present figures as the baseline until unpinned. Returns the number of regions with a
        figure."""
        document = self._documents.setdefault(snapshot.uri, _Document())
        document.pinned = _figures(snapshot)
        return len(document.pinned.paces)

    def unpin(self, uri: str) -> None:
        """Compare with the last save again."""
        if uri in self._documents:
            self._documents[uri].pinned = None

    def forget(self, uri: str) -> None:
        """The document was closed."""
        self._documents.pop(uri, None)

    def state(self, uri: str) -> dict[str, Any]:
        """The baselines of a document as plain JSON values."""
        document = self._documents.get(uri, _Document())
        pinned = document.pinned
        return {
            "saved": document.saved.state(),
            "pinned": None if pinned is None else pinned.state(),
        }

    def restore(self, uri: str, state: Mapping[str, Any]) -> None:
        """Restore what ``state`` returned. Raises ValueError, TypeError or KeyError for anything else."""
        pinned = state["pinned"]
        self._documents[uri] = _Document(
            _BaselineFigures.restored(state["saved"]),
            None if pinned is None else _BaselineFigures.restored(pinned),
        )


def pace_to(pace: Pace) -> list[Any]:
    """A figure as plain JSON values."""
    work = pace.work
    return [pace.cycles, None if work is None else [work.amount, work.unit, work.source]]


def pace_from(state: object) -> Pace:
    """The figure that ``pace_to`` wrote. Raises ValueError for anything else."""
    cycles, work = convert(state, _PACE)
    return Pace(cycles, None if work is None else Work(*work))


def _key(region: RegionResult) -> Key:
    return region.name, region.microarchitecture


def _names(snapshot: Snapshot) -> tuple[str, ...]:
    return tuple(region.result.name for region in snapshot.regions)


def _figures(snapshot: Snapshot, *, stale: bool = False) -> _BaselineFigures:
    """The figures known now; ``stale``: include regions edited since."""
    paces = {
        _key(region.result): Pace(region.result.cycles, region.result.work)
        for region in snapshot.regions
        if region.result.cycles is not None and (stale or not region.stale)
    }
    return _BaselineFigures(_names(snapshot), paces, snapshot.analysed)
