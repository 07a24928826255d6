"""Counts events of each instruction's uops in the relevant rounds (uiCA model, 5.3, 5.4)."""

from __future__ import annotations

from cyclelens.analyzer.model.simulation import FailedForward, LineUsage
from cyclelens.analyzer.model.units import MOST_UNITS, Units
from cyclelens.analyzer.simulator.tables.arrays import ints
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import (
    DSB,
    ELIMINATED,
    LOAD,
    LSD,
    MERGE,
    MISTAKEN,
    MITE,
    MS,
    NO_SOURCE,
    NONE,
    SOURCE_NAMES,
    SYNC,
)

_OWN, _MERGES, _SYNCS, _GROUPS = 0, 1, 2, 3
"""Groups: an instruction's own uops, the merges before it and the synchronisations before it."""
_UOPS, _ISSUED, _EXECUTED, _DIVIDER, _SOURCES, _PORTS = 0, 1, 2, 3, 4, 10
_FIELDS = _PORTS + MOST_UNITS
"""Counts per group and instruction: uops, fused uops, uops with a port, cycles of the divider, uops of the
IDQ by source, uops by port."""
_DELIVERING = tuple((source, SOURCE_NAMES[source]) for source in (MITE, MS, DSB, LSD))
_IDQ_HEAD = 1
_FUSED_HEAD = 2


class Tally:
    """Sums over the rounds ``first`` to ``last``."""

    def __init__(self, columns: Columns, units: Units, first: int, last: int) -> None:
        self._columns = columns
        self._names: tuple[str, ...] = units.names
        self._ports = len(units.names)
        self._program = columns.program
        self._rounds = float(last - first + 1)
        count = columns.program.instructions
        self.counts = ints(_GROUPS * count * _FIELDS)
        """(group * instructions + instruction) * _FIELDS + field."""
        self.first_source = ints(count)
        self.eliminated = ints(count)
        self.renamed = ints(count)
        self.collided = ints(count)
        self.blocked = ints(count)
        self.mistaken = ints(count)
        """Loads that could not get forwarded data."""
        self.blocked_cycles = ints(count)
        self.blocked_by = ints(count)
        """The store that blocked the last of them."""
        self._heads = ints(columns.program.all_uops)
        """Whether each static uop is the first of a fused uop and of an IDQ uop."""
        self._find_heads()
        self._add_rounds(first, last)

    def _find_heads(self) -> None:
        program = self._program
        for fused in range(program.all_fused_uops):
            self._heads[program.f_uop0[fused]] |= _FUSED_HEAD
        for idq_uop in range(program.all_idq_uops):
            self._heads[program.f_uop0[program.q_fused0[idq_uop]]] |= _IDQ_HEAD

    def _add_rounds(self, first: int, last: int) -> None:
        columns = self._columns
        count = self._program.instructions
        begin = first * count
        end = (last + 1) * count
        # Sync and merge uops are numbered after their instruction, so uops after the last round are read too.
        for uop in range(columns.instance_uop0[begin], columns.uops):
            if begin <= columns.instance[uop] < end and columns.issued[uop] >= 0:
                self._add(uop)

    def _add(self, uop: int) -> None:
        columns = self._columns
        program = self._program
        i = columns.position[uop]
        static = columns.static[uop]
        kind = program.u_kind[static]
        source = columns.source[uop]
        port = columns.port[uop]
        group = _OWN
        if kind == MERGE:
            group = _MERGES
        elif kind == SYNC:
            group = _SYNCS
        elif program.u_first[static] and self.first_source[i] == NO_SOURCE:
            self.first_source[i] = source
        place = (group * program.instructions + i) * _FIELDS
        self.counts[place + _UOPS] += 1
        if self._heads[static] & _IDQ_HEAD:
            self.counts[place + _SOURCES + source] += 1
        if self._heads[static] & _FUSED_HEAD:
            self.counts[place + _ISSUED] += 1
        if kind == LOAD:
            self.renamed[i] += columns.renamed[uop]
            self.collided[i] += columns.collided[uop]
            if columns.blocked[uop] and columns.store_uop[columns.store[uop]] != NONE:
                self._add_blocked(uop, i)
        if port >= 0:
            self.counts[place + _EXECUTED] += 1
            self.counts[place + _PORTS + port] += 1
            self.counts[place + _DIVIDER] += program.u_divider[static]
        elif port == ELIMINATED:
            self.eliminated[i] += 1

    def _add_blocked(self, uop: int, i: int) -> None:
        columns = self._columns
        self.blocked[i] += 1
        self.mistaken[i] += columns.blocked[uop] == MISTAKEN
        data = columns.store_uop[columns.store[uop]]
        self.blocked_cycles[i] += columns.executed[uop] - columns.retired[data]
        self.blocked_by[i] = columns.position[data]

    def usage(self) -> tuple[LineUsage, ...]:
        """Averages of the instructions' own uops."""
        return tuple([self._usage(_OWN, i) for i in range(self._program.instructions)])

    def merge_usage(self) -> tuple[LineUsage | None, ...]:
        """Averages of the merges before each instruction; None if there are none."""
        return self._extra_usage(_MERGES)

    def sync_usage(self) -> tuple[LineUsage | None, ...]:
        """Averages of the synchronisations before each instruction; None if there are none."""
        return self._extra_usage(_SYNCS)

    def first_sources(self) -> tuple[str, ...]:
        """The source of the first instance of each instruction."""
        return tuple([SOURCE_NAMES[self.first_source[i]] for i in range(self._program.instructions)])

    def not_eliminated(self) -> tuple[float, ...]:
        """Share of each instruction's instances that were not eliminated."""
        count = self._program.instructions
        return tuple([1.0 - self.eliminated[i] / self._rounds for i in range(count)])

    def renamed_loads(self) -> tuple[float, ...]:
        """Loads of each instruction that took over a stored value."""
        return tuple([self.renamed[i] / self._rounds for i in range(self._program.instructions)])

    def colliding_loads(self) -> tuple[float, ...]:
        """Loads of each instruction that had to wait because two others read the same word."""
        return tuple([self.collided[i] / self._rounds for i in range(self._program.instructions)])

    def failed_forwards(self) -> tuple[FailedForward | None, ...]:
        """Loads of each instruction that waited until a store had left; None if none did."""
        return tuple([self._failed_forward(i) for i in range(self._program.instructions)])

    def _failed_forward(self, i: int) -> FailedForward | None:
        if not self.blocked[i]:
            return None
        cycles = self.blocked_cycles[i] / float(self.blocked[i])
        mistaken = 2 * self.mistaken[i] > self.blocked[i]
        return FailedForward(self.blocked[i] / self._rounds, cycles, self.blocked_by[i], mistaken)

    def busiest_port(self) -> float:
        """Number of uops on the busiest port, per round."""
        most = 0
        for port in range(self._ports):
            uops = 0
            for row in range(_GROUPS * self._program.instructions):
                uops += self.counts[row * _FIELDS + _PORTS + port]
            most = max(most, uops)
        return most / self._rounds

    def _extra_usage(self, group: int) -> tuple[LineUsage | None, ...]:
        count = self._program.instructions
        rows = range(group * count, (group + 1) * count)
        return tuple(
            [
                self._usage(group, row - rows.start) if self.counts[row * _FIELDS + _UOPS] else None
                for row in rows
            ]
        )

    def _usage(self, group: int, i: int) -> LineUsage:
        place = (group * self._program.instructions + i) * _FIELDS
        rounds = self._rounds
        sources = {}
        for source, name in _DELIVERING:
            if self.counts[place + _SOURCES + source]:
                sources[name] = self.counts[place + _SOURCES + source] / rounds
        ports = {}
        for port in range(len(self._names)):
            if self.counts[place + _PORTS + port]:
                ports[self._names[port]] = self.counts[place + _PORTS + port] / rounds
        return LineUsage(
            sources=sources,
            issued=self.counts[place + _ISSUED] / rounds,
            executed=self.counts[place + _EXECUTED] / rounds,
            ports=ports,
            divider=self.counts[place + _DIVIDER] / rounds,
        )
