"""Binding with twelve ports: Golden Cove and Redwood Cove (P1, P2)."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.units import MOST_UNITS, Role
from cyclelens.analyzer.simulator.back_end.binding import Binding
from cyclelens.analyzer.simulator.tables.arrays import Record, ints
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.entries import Entries
from cyclelens.analyzer.simulator.tables.queues import Queues

_IMBALANCE = 5


class TwelvePorts(Binding):
    """Chooses by issue slot among the ports within five uops of the least used one. The counts are a cycle
    old; memory ports take turns."""

    def __init__(
        self, columns: Columns, microarchitecture: Microarchitecture, queues: Queues, entries: Entries
    ) -> None:
        super().__init__(columns, microarchitecture, queues, entries)
        units = microarchitecture.units
        stores = units.having(Role.STORE_ADDRESS).mask | units.having(Role.STORE_DATA).mask
        self._memory: int = units.having(Role.LOAD).mask | stores
        self.previous = ints(MOST_UNITS)
        """The counts of the cycle before."""
        self._latest = ints(MOST_UNITS)
        """Port taken last of each set of memory ports, by the lowest port of the set."""

    def start(self) -> None:
        """Reset: no uop is bound."""
        Binding.start(self)
        for unit in range(MOST_UNITS):
            self.previous[unit] = 0
            self._latest[unit] = 0

    def look(self) -> None:
        """Take the snapshot of the counts at the beginning of the previous cycle."""
        for unit in range(self._units):
            self.snapshot[unit] = self.previous[unit]
            self.previous[unit] = self.usage[unit]

    def settled(self) -> bool:
        """Whether the counts equal those of the cycle before."""
        unit = 0
        while unit < self._units and self.previous[unit] == self.usage[unit]:
            unit += 1
        return unit == self._units

    def choose(self, units: int, slot: int) -> int:
        """The port for a uop in this issue slot."""
        if units & self._memory:
            return self._in_turn(units)
        # The allowed ports by usage, higher numbers first, without those that lag far behind.
        return self.ranked(slot % self.rank(units, _IMBALANCE))

    def record(self, state: Record) -> None:
        """Record this part of the pipeline's state."""
        Binding.record(self, state)
        for unit in range(self._units):
            state.add(self.previous[unit])
            state.add(self._latest[unit])

    def _in_turn(self, units: int) -> int:
        """The next port of the set above the latest one, or else the lowest."""
        lowest = self.only(units)
        unit = self._latest[lowest] + 1
        while unit < self._units and not units >> unit & 1:
            unit += 1
        if unit == self._units:
            unit = lowest
        self._latest[lowest] = unit
        return unit
