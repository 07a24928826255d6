"""workspace/executeCommand ``cyclelens.history``: the figures of a region since HEAD and since the document
was opened, each with its text.

0.500 -> 0.250 -> 0.125 cycles/float, 4.0x
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress, groupby
from typing import Any

from cyclelens.analyzer.common.escaping import printable
from cyclelens.analyzer.comparisons.table import grid
from cyclelens.analyzer.insight.work import Pace, comparable, difference, written
from cyclelens.server.background.tasks import Task, TaskCancelled, TaskFailed
from cyclelens.server.documents.baselines import pace_from
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
            pace = pace_from([table.rows[0][1], table.extra["work"]])
            entries.insert(0, _HistoryEntry("HEAD", pace, str(table.extra["source"])))
        return _answer(snapshot, region, entries)


def strip(versions: Sequence[RegionVersion]) -> str:
    """``8.00 -> 4.00 -> 2.00, 4.0x``; ``0.500 -> 0.125 cycles/float, 4.0x`` if the work is known; empty for a
    single figure. Versions whose work cannot be compared with that of the latest one are left out."""
    paces = [version.pace for version in versions]
    alike = [pace for pace in paces if _alike(pace, paces[-1])]
    if len(alike) < 2:
        return ""
    figures, unit = _figures(alike)
    figures = [figure for figure, _ in groupby(figures)]
    if len(figures) < 2:
        return ""
    shown = figures if len(figures) <= _STRIP else [figures[0], "...", *figures[1 - _STRIP :]]
    gain = difference(alike[0], alike[-1]).partition(" per ")[0] or "same"
    return f"{' -> '.join(shown)}{f' {unit}' if unit else ''}, {gain}"


def _alike(one: Pace, other: Pace) -> bool:
    """Whether the figures are for comparable work; two of unknown work are compared per iteration."""
    if one.work is None or other.work is None:
        return one.work is other.work
    return comparable(one.work, other.work)


def _figures(paces: Sequence[Pace]) -> tuple[list[str], str]:
    """The figures and their unit: cycles per unit of the latest one's work, empty for versions that it cannot
    be compared with; per iteration with an empty unit if its work is unknown."""
    work = paces[-1].work
    if work is None:
        return [f"{pace.cycles:.2f}" for pace in paces], ""
    alike = [_alike(pace, paces[-1]) for pace in paces]
    found = iter(written(*(pace.cycles_for(work) / work.amount for pace in compress(paces, alike))))
    return [next(found) if each else "" for each in alike], f"cycles/{work.unit}"


def _entries(versions: Sequence[RegionVersion]) -> list[_HistoryEntry]:
    """One entry per version; empty for a region that never had a figure."""
    names = ["opened", *(f"edit {number}" for number in range(1, len(versions)))][: len(versions)]
    if len(versions) > 1:
        names[-1] = "now"
    return [
        _HistoryEntry(name, version.pace, version.text) for name, version in zip(names, versions, strict=True)
    ]


def _against(before: Pace, now: Pace) -> str:
    return (difference(before, now) or "same") if _alike(before, now) else "other work"


def _answer(snapshot: Snapshot, region: ShownRegion, entries: Sequence[_HistoryEntry]) -> dict[str, Any]:
    now = entries[-1].pace if entries else None
    rows = [
        (entry.label, entry.pace.cycles, _against(entry.pace, now) if entry is not entries[-1] else "")
        for entry in entries
        if now is not None
    ]
    figures, unit = _figures([entry.pace for entry in entries]) if entries else ([], "")
    if unit:
        by_work = [(figure, *row) for figure, row in zip(figures, rows, strict=True)]
        text = grid((unit, *_COLUMNS), by_work)
        figures = [
            f"{f'{figure} {unit}, ' if figure else ''}{row[1]:.2f} {_COLUMNS[1]}"
            for figure, row in zip(figures, rows, strict=True)
        ]
    else:
        text = grid(_COLUMNS, rows)
        figures = [f"{figure} {_COLUMNS[1]}" for figure in figures]
    title = f"History of {region.result.name}"
    return {
        "title": printable(title),
        "text": printable(text or "There is no figure yet."),
        "columns": list(_COLUMNS),
        "rows": [list(row) for row in rows],
        "figures": figures,
        "versions": [entry.text for entry in entries],
        "present": text_of(snapshot, region),
        "firstLine": region.result.first_line,
        "lastLine": region.result.last_line,
    }
