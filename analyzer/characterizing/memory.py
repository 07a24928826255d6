"""Measures the levels of this machine's memory on one core: bandwidth of loads, stores, copies and
non-temporal stores, and latency by a pointer chase."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum

from cyclelens.analyzer.insight.memory_levels.ecm import InCore, cycles
from cyclelens.analyzer.isa.encoder import EncoderMemory, encodings
from cyclelens.analyzer.measuring.harness import Harness
from cyclelens.analyzer.measuring.machine_memory import MachineMemory
from cyclelens.analyzer.measuring.repeated import repeated
from cyclelens.analyzer.measuring.requests import (
    Inputs,
    Measurement,
    MeasurementRequest,
    PointerChain,
    Walk,
)
from cyclelens.analyzer.measuring.walks import ADDRESS
from cyclelens.analyzer.model.memory_levels import (
    MEMORY,
    LevelParameter,
    MemoryLevel,
    MemoryLevels,
    Overlap,
    Stream,
)
from cyclelens.analyzer.model.provenance import Source
from cyclelens.analyzer.model.source import LINE_BYTES
from msgspec import Struct
from msgspec.structs import replace

_SMALLEST_MEMORY = 256 << 20
_BEYOND = 8
"""Times the last cache that memory is measured on."""
_TIMES_NEARER = 4
"""Times the cache before it that a cache is measured on, at most: other cores share L3, and a line that waits
long for its next use is gone."""
_HALF = 2
_GAP = 256
_VECTOR = 32


class Kind(StrEnum):
    """What is measured."""

    LOAD = "load"
    STORE = "store"
    COPY = "copy"
    NON_TEMPORAL = "non-temporal store"
    LATENCY = "latency"


class LevelTime(Struct, frozen=True):
    """One measurement at one level."""

    level: str
    size: int
    """Bytes of the working set."""
    kind: Kind
    measured: Measurement
    """Cycles per line of 64 bytes (of a copy, per line copied), or per load for latencies."""


def sizes(memory: MachineMemory) -> Mapping[str, int]:
    """Bytes to measure each level on; empty if the caches are not known. Memory is left out if it would not
    fit."""
    if not memory.caches:
        return {}
    found, nearer = {}, 0
    for level, size in memory.caches.items():
        found[level] = size // _HALF if nearer == 0 else min(size // _HALF, _TIMES_NEARER * nearer)
        nearer = size
    large = max(_SMALLEST_MEMORY, _BEYOND * max(memory.caches.values()))
    return found if memory.most and large > memory.most else {**found, MEMORY: large}


def times(harness: Harness, sizes: Mapping[str, int], runs: int) -> Iterator[LevelTime]:
    """Measure all kinds at all levels. Raises ``CannotMeasure``."""
    for level, size in sizes.items():
        for kind in Kind:
            yield LevelTime(level, size, kind, repeated(harness, request(kind, size), runs))


def request(kind: Kind, size: int) -> MeasurementRequest:
    """The loop of one kind on a working set, a line per iteration (of a copy, two lines)."""
    if kind is Kind.LATENCY:
        nodes = size // LINE_BYTES
        return MeasurementRequest(
            code=_encoded("mov", "RAX", EncoderMemory("RAX")),
            instructions=1,
            loop=True,
            inputs=Inputs(registers={"RAX": ADDRESS}),
            walk=Walk(size, nodes, PointerChain(ADDRESS, nodes, LINE_BYTES, 0)),
        )
    copy = kind is Kind.COPY
    each = size // 2 if copy else size
    return MeasurementRequest(
        code=b"".join(_statements(kind)),
        instructions=len(list(_statements(kind))),
        loop=True,
        vector_bits=8 * _VECTOR,
        inputs=Inputs(registers={"RSI": ADDRESS, "RDI": ADDRESS + (each + _GAP if copy else 0)}),
        walk=Walk(2 * each + _GAP if copy else each, each // LINE_BYTES),
    )


def _statements(kind: Kind) -> Iterator[bytes]:
    store = "vmovntps" if kind is Kind.NON_TEMPORAL else "vmovaps"
    for number, place in enumerate(range(0, LINE_BYTES, _VECTOR)):
        if kind in (Kind.LOAD, Kind.COPY):
            yield _encoded("vmovaps", f"YMM{number}", EncoderMemory("RSI", displacement=place))
        if kind is not Kind.LOAD:
            yield _encoded(store, EncoderMemory("RDI", displacement=place), f"YMM{number}")
    if kind in (Kind.LOAD, Kind.COPY):
        yield _encoded("add", "RSI", LINE_BYTES)
    if kind is not Kind.LOAD:
        yield _encoded("add", "RDI", LINE_BYTES)


def _encoded(mnemonic: str, *operands: str | int | EncoderMemory) -> bytes:
    return next(encodings(mnemonic, operands))


# ---------------------------------------------------------------------------------------------------------
# Parameters

_LOADED = Stream("rsi", LINE_BYTES, 1.0)
_STORED = Stream("rdi", LINE_BYTES, 1.0, stored=True)
_PAST = Stream("rdi", LINE_BYTES, 1.0, loaded=False, stored=True, non_temporal=True)


def fitted(
    levels: MemoryLevels, found: Sequence[LevelTime], memory: MachineMemory, source: Source
) -> MemoryLevels:
    """The parameters with which the model gives the measured loads, stores and non-temporal stores.

    ``levels``: of the same core; they say what overlaps. A level that was not measured stays as it is. Copies
    are not used, so that they check the result."""
    known = {(each.level, each.kind): each.measured.cycles for each in found}
    made = levels
    for place, level in enumerate(levels.levels):
        latency = known.get((level.name, Kind.LATENCY))
        size = memory.caches.get(level.name)
        new = replace(
            level,
            size=level.size if size is None else LevelParameter(size, source),
            latency=level.latency if latency is None else LevelParameter(latency, source),
        )
        if place:
            new = _with_rates(made, place, new, known, source)
        made = _with(made, place, new)
    return made


def _with(levels: MemoryLevels, place: int, level: MemoryLevel) -> MemoryLevels:
    return replace(levels, levels=(*levels.levels[:place], level, *levels.levels[place + 1 :]))


def _with_rates(
    levels: MemoryLevels,
    place: int,
    level: MemoryLevel,
    known: Mapping[tuple[str, Kind], float | None],
    source: Source,
) -> MemoryLevel:
    zero = LevelParameter(0.0, source)
    loads = known.get(("L1", Kind.LOAD)) or 0.0

    def own(kind: Kind, stream: Stream, core: float, now: MemoryLevel) -> float | None:
        """What the level's own path takes; ``now``: the level as far as its parameters are known."""
        time = known.get((level.name, kind))
        if time is None or levels.overlap is Overlap.ALL:
            return time
        others = cycles(_with(levels, place, now), InCore(0.0, core), [stream], [level.name])
        return None if others is None else max(0.0, time - others)

    empty = replace(level, load=zero, write_back=zero)
    load = own(Kind.LOAD, _LOADED, loads, empty)
    if load is None:
        return level
    store = own(Kind.STORE, _STORED, 0.0, empty)
    if store is not None and not level.both_ways:
        store = max(0.0, store - load)
    past = (
        own(Kind.NON_TEMPORAL, _PAST, 0.0, replace(empty, non_temporal=zero))
        if level.name == MEMORY
        else None
    )
    return replace(
        level,
        load=LevelParameter(load, source),
        write_back=level.write_back if store is None else LevelParameter(store, source),
        non_temporal=level.non_temporal if past is None else LevelParameter(past, source),
    )
