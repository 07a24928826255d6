"""workspace/executeCommand ``cyclelens.history``: the figures of a region since HEAD and since the document
was opened, each with its text.

8.00 -> 4.00 -> 2.00
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cyclelens.analyzer.common.escaping import printable
from cyclelens.analyzer.comparisons.table import grid
from cyclelens.analyzer.insight.work import Pace, difference
from cyclelens.server.background.tasks import Task, TaskCancelled, TaskFailed
from cyclelens.server.documents.history import RegionVersion, text_of
from cyclelens.server.documents.origins import path_of
from cyclelens.server.documents.session import ShownRegion, Snapshot
from cyclelens.server.features.commands import known_document, known_region
from cyclelens.server.language_server import CyclelensServer
from msgspec import Struct

HISTORY = "cyclelens.history"

_COLUMNS = ("version", "cycles/iter", "now")
_STRIP = 4
"""Number of figures in a lens: the first one and the latest ones."""


class _HistoryEntry(Struct, frozen=True):
    label: str
    pace: Pace
    text: str


def register(server: CyclelensServer) -> None:
    """Register the command."""

    @server.command(HISTORY)
    async def history(uri: str, where: str | int) -> dict[str, Any] | None:
        snapshot = known_document(server, uri)
        region = known_region(snapshot, where)
        name = region.result.name
        entries = _entries(server.history.of(snapshot, region))
        try:
            table = await server.tasks.run(snapshot, Task("committed", name, path=path_of(uri)))
        except TaskCancelled:
            return None
        except TaskFailed:
            table = None
        if table is not None and table.rows:
            cycles = table.rows[0][1]
            assert isinstance(cycles, float)
            entries.insert(0, _HistoryEntry("HEAD", Pace(cycles), str(table.extra["source"])))
        return _answer(snapshot, region, entries)


def strip(versions: Sequence[RegionVersion]) -> str:
    """``8.00 -> 4.00 -> 2.00``; empty for a single figure."""
    figures = [f"{version.pace.cycles:.2f}" for version in versions]
    if len(figures) < 2:
        return ""
    shown = figures if len(figures) <= _STRIP else [figures[0], "...", *figures[1 - _STRIP :]]
    return " -> ".join(shown)


def _entries(versions: Sequence[RegionVersion]) -> list[_HistoryEntry]:
    """One entry per version; empty for a region that never had a figure."""
    names = ["opened", *(f"edit {number}" for number in range(1, len(versions)))][: len(versions)]
    if len(versions) > 1:
        names[-1] = "now"
    return [
        _HistoryEntry(name, version.pace, version.text) for name, version in zip(names, versions, strict=True)
    ]


def _answer(snapshot: Snapshot, region: ShownRegion, entries: Sequence[_HistoryEntry]) -> dict[str, Any]:
    now = entries[-1].pace if entries else None
    rows = [
        (
            entry.label,
            entry.pace.cycles,
            (difference(entry.pace, now) or "same") if entry is not entries[-1] else "",
        )
        for entry in entries
        if now is not None
    ]
    title = f"History of {region.result.name}"
    return {
        "title": printable(title),
        "text": printable(grid(_COLUMNS, rows) or "There is no figure yet."),
        "columns": list(_COLUMNS),
        "rows": [list(row) for row in rows],
        "versions": [entry.text for entry in entries],
        "present": text_of(snapshot, region),
        "firstLine": region.result.first_line,
        "lastLine": region.result.last_line,
    }
