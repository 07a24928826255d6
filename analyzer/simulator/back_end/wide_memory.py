"""Sandy Bridge and Ivy Bridge: 256-bit accesses occupy a memory unit twice as long (Z2, Z4)."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.units import Role
from cyclelens.analyzer.simulator.back_end.dispatch_rule import DispatchRule
from cyclelens.analyzer.simulator.tables.arrays import Record, SequenceQueues
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import LOAD, NONE, QUEUED_FOR_PAIR

_WIDE_STORE = 2
"""Cycles of a 256-bit store."""


class WideMemory(DispatchRule):
    """Two loads do not leave together if one is 256 bits wide; a 256-bit store takes the next cycle too."""

    def __init__(self, columns: Columns, microarchitecture: Microarchitecture) -> None:
        units = microarchitecture.units
        self._columns = columns
        self._program = columns.program
        loads = units.numbers(units.having(Role.LOAD))
        self._one: int = loads[0]
        self._other: int = loads[1]
        self._data: int = units.numbers(units.having(Role.STORE_DATA))[0]

    def start(self) -> None:
        """Reset: no uop was dispatched."""
        self._busy = 0
        """Cycles for which the store-data unit is busy."""
        self._wide = NONE
        """The store that occupies it."""

    def held_back(self, ready: SequenceQueues) -> int:
        """The store-data unit while it is busy, and the unit of the younger of two loads."""
        held = 1 << self._data if self._busy else 0
        if self._busy and ready.counts[self._data] > 0:
            self._columns.queue(ready.oldest(self._data), QUEUED_FOR_PAIR, self._wide)
        if ready.counts[self._one] == 0 or ready.counts[self._other] == 0:
            return held
        first = ready.oldest(self._one)
        second = ready.oldest(self._other)
        one = self._columns.static[first]
        other = self._columns.static[second]
        if (
            self._program.u_kind[one] == LOAD
            and self._program.u_kind[other] == LOAD
            and (self._program.u_wide[one] or self._program.u_wide[other])
        ):
            self._columns.queue(max(first, second), QUEUED_FOR_PAIR, min(first, second))
            held |= 1 << (self._other if first < second else self._one)
        return held

    def left(self, uop: int, unit: int) -> None:
        """Called when a uop was dispatched to this unit."""
        if unit == self._data and self._program.u_wide[self._columns.static[uop]]:
            self._busy = _WIDE_STORE
            self._wide = uop

    def pass_by(self, cycles: int) -> None:
        """Skip this many cycles."""
        self._busy = max(0, self._busy - cycles)

    def record(self, state: Record) -> None:
        """Record this part of the pipeline's state."""
        state.add(self._busy)
