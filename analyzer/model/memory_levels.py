"""The levels of a core's memory, from the first-level cache to memory: sizes, latencies, and the time that a
line takes between two levels. Every parameter has its source."""

from __future__ import annotations

from enum import StrEnum

from cyclelens.analyzer.model.provenance import Source
from msgspec import Struct

MEMORY = "memory"
PAGE_BYTES = 4096
LEVEL_NAMES = ("L1", "L2", "L3", MEMORY)
"""Names of all levels, the nearest first."""


class LevelParameter(Struct, frozen=True):
    """One value of a level, with its source."""

    value: float
    source: Source


class MemoryLevel(Struct, frozen=True):
    """One level, and the path between it and the level before it, which is nearer to the core.

    A line has 64 bytes (``LINE_BYTES`` of ``model/source.py``), and a cycle is one of the core. A parameter
    that is not known is None.
    """

    name: str
    """``L1``, ``L2``, ``L3`` or ``memory``."""
    size: LevelParameter | None = None
    """Bytes that one core can use alone; None for memory."""
    latency: LevelParameter | None = None
    """Cycles from the address of a load to its value."""
    load: LevelParameter | None = None
    """Cycles for a line that moves from this level to the one before it. None for L1, which the simulation
    covers."""
    write_back: LevelParameter | None = None
    """Cycles for a line that moves from the level before this one to this one."""
    non_temporal: LevelParameter | None = None
    """Cycles for a line of non-temporal stores; only of memory."""
    both_ways: bool = False
    """Whether lines move in both directions at once, so that only the longer time counts."""
    victim: bool = False
    """Whether the level holds only lines that the level before it gave up: lines from memory pass it by, and
    every line that leaves the level before it, changed or not, is written to it."""


class Overlap(StrEnum):
    """Which times of the execution-cache-memory model (ECM) pass at once."""

    NONE = "none"
    """Transfers between levels follow each other, and so do the loads of the core; only the core's other work
    overlaps with them."""
    ALL = "all"
    """Everything overlaps: the longest time counts."""


class Translation(Struct, frozen=True):
    """What a load takes longer whose page is not in the first-level TLB but in the second one."""

    pages: int
    """Pages of 4 KiB that the first-level TLB holds."""
    cycles: float
    source: Source

    @property
    def reach(self) -> int:
        """Bytes of all these pages."""
        return self.pages * PAGE_BYTES

    def of_size(self, size: int) -> float:
        """Cycles that a load at a random address within this many bytes takes longer, on average."""
        return self.cycles * max(0.0, 1 - self.reach / size) if size else 0.0


class MemoryLevels(Struct, frozen=True):
    """All levels of a core, the nearest first."""

    levels: tuple[MemoryLevel, ...]
    overlap: Overlap
    overlap_source: Source
    translation: Translation | None = None
    """None: not known."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the levels, the nearest first."""
        return tuple(level.name for level in self.levels)

    def holding(self, size: int) -> str:
        """The nearest level that holds this many bytes; the last one if none is known to."""
        for level in self.levels:
            if level.size is not None and size <= level.size.value:
                return level.name
        return self.levels[-1].name


class Stream(Struct, frozen=True):
    """Accesses of a loop that walk through one array."""

    pointer: str
    """The register that points to it: ``rsi``; ``rsi+rax`` if two registers move."""
    step: int
    """Bytes by which an iteration moves on."""
    lines: float
    """Lines of 64 bytes that an iteration touches for the first time."""
    loaded: bool = True
    """Whether its lines have to be read: for loads, and for stores that are not non-temporal, which read the
    line that they change (write-allocate)."""
    stored: bool = False
    """Whether its lines are changed, so that they have to be written back."""
    non_temporal: bool = False
    """Whether its stores are non-temporal: its lines go to memory, past the caches."""
    instructions: tuple[int, ...] = ()
    """Indices of the instructions that access it."""
    distances: tuple[int, ...] = ()
    """Bytes between accesses to the same array that lie more than a line apart, such as neighbouring rows:
    the line that the first one reads has to stay in a cache until the next one needs it."""

    def loads_through(self, nearer: int | None) -> float:
        """Lines per iteration that come through the path behind a cache of this many bytes (None: not known).

        A cache keeps a row until its next use only if half of it is enough for all rows (the layer condition
        with the factor 2 of Stengel et al.)."""
        if not self.loaded:
            return 0.0
        rows = len(self.distances) + 1
        lost = sum(nearer is not None and 2 * rows * distance > nearer for distance in self.distances)
        return self.lines * (1 + lost)


class LevelFigure(Struct, frozen=True):
    """The figure of a region with the data of all its streams in one level."""

    level: str
    cycles: float | None
    """Cycles per iteration; None if a time that it needs is not known."""
    latency: float | None = None
    """Cycles from the address of a single load to its value."""


class ChosenData(Struct, frozen=True):
    """The figure for the place of the data that the user names."""

    where: str
    """``data in L2``, ``rsi in L3, rdi in L1``."""
    cycles: float | None = None
    """Cycles per iteration; None if not known."""
    least: bool = False
    """Whether accesses that are no stream are left out of ``cycles``."""


class DataLevels(Struct, frozen=True):
    """What a region's figure is by where its data are."""

    streams: tuple[Stream, ...]
    scattered: tuple[int, ...] = ()
    """Indices of instructions of whose accesses the data decide the address."""
    chased: tuple[int, ...] = ()
    """Those of the scattered ones that are loads on the critical chain: each iteration waits for them."""
    far: tuple[int, ...] = ()
    """Indices of instructions whose accesses move on by more than a page, which no prefetcher follows."""
    figures: tuple[LevelFigure, ...] = ()
    """One per level, the nearest first; empty if nothing is known of the core's levels."""
    translation: Translation | None = None
    """Of the core; None: not known."""
    file: str = ""
    """The file with the measured levels that the figures are from; empty: the levels are published ones."""
    chosen: ChosenData | None = None
    """The place that the user names, which the headline is for; None: L1."""

    def translated(self, size: int) -> float:
        """Cycles per iteration that chased pointers to data of this many bytes add for the translation of
        addresses; 0 if that is not known."""
        return 0.0 if self.translation is None else len(self.chased) * self.translation.of_size(size)

    @property
    def left_out(self) -> tuple[int, ...]:
        """Indices of the instructions that no level's figure includes, ascending: neither streams nor chased
        pointers."""
        return tuple(sorted({*self.far, *self.scattered} - {*self.chased}))
