"""The execution-cache-memory model (ECM): how long an iteration takes by where its data are.

By Stengel et al. (arXiv 1410.5010) and Hofmann et al. (arXiv 1509.03118), on Intel's cores the loads of the
core and all transfers follow each other, and everything else of the core passes meanwhile:

    T = max(T_OL, T_nOL + T_L1L2 + T_L2L3 + T_L3Mem)

On AMD's cores everything overlaps, and the longest time counts (RRZE-HPC/ECM-Model has both hypotheses).
"""

from __future__ import annotations

from collections.abc import Sequence

from cyclelens.analyzer.model.memory_levels import MemoryLevels, Overlap, Stream
from msgspec import Struct


class InCore(Struct, frozen=True):
    """The time of an iteration with all data in the first-level cache, in cycles."""

    total: float
    """All of it: T_OL, unless the loads take longer."""
    loads: float
    """What does not overlap with transfers (T_nOL): the loads, by the units that they need."""


def transfers(
    levels: MemoryLevels, streams: Sequence[Stream], where: Sequence[str]
) -> tuple[float | None, ...]:
    """Cycles per iteration on each path, from that between L1 and L2 on; None for a path in use whose times
    are not known.

    ``where``: the name of the level that holds each stream. Non-temporal stores go to memory from any level.
    """
    names = levels.names
    depth = [
        len(names) - 1 if stream.non_temporal else names.index(name)
        for stream, name in zip(streams, where, strict=True)
    ]
    found: list[float | None] = []
    for place, level in enumerate(levels.levels[1:], 1):
        size = levels.levels[place - 1].size
        nearer = None if size is None else int(size.value)
        loaded = stored = past_caches = 0.0
        for stream, deep in zip(streams, depth, strict=True):
            if stream.non_temporal:
                past_caches += stream.lines if place == len(names) - 1 else 0.0
            elif deep >= place:
                lines = stream.loads_through(nearer)
                loaded += lines if deep == place or not level.victim else 0.0
                stored += stream.lines if stream.stored and not level.victim else 0.0
                stored += max(lines, stream.lines) if level.victim else 0.0
        loads, stores, past = (
            0.0 if not lines else None if rate is None else lines * rate.value
            for lines, rate in (
                (loaded, level.load),
                (stored, level.write_back),
                (past_caches, level.non_temporal),
            )
        )
        if loads is None or stores is None or past is None:
            found.append(None)
        else:
            found.append((max(loads, stores) if level.both_ways else loads + stores) + past)
    return tuple(found)


def cycles(
    levels: MemoryLevels, core: InCore, streams: Sequence[Stream], where: Sequence[str]
) -> float | None:
    """Cycles per iteration; None if a time is needed that is not known. ``where``: as for ``transfers``."""
    paths = transfers(levels, streams, where)
    known = [time for time in paths if time is not None]
    if len(known) < len(paths):
        return None
    if levels.overlap is Overlap.ALL:
        return max(core.total, core.loads, *known)
    return max(core.total, core.loads + sum(known))
