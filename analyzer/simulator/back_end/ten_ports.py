"""Binding with ten ports: Ice Lake and its descendants (uiCA model, 3.11.1)."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.units import MOST_UNITS, Role
from cyclelens.analyzer.simulator.back_end.alternation import Alternation
from cyclelens.analyzer.simulator.back_end.binding import Binding
from cyclelens.analyzer.simulator.tables.arrays import Record, ints
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.entries import Entries
from cyclelens.analyzer.simulator.tables.queues import Queues

_WIDEST = 8
_IMBALANCE = 5
_MOST_SETS = 64
_LAST_SLOT = 4


class TenPorts(Binding):
    """Chooses among the ports within five uops of the least used one, by the slot and by how many earlier
    uops of the group may take the same ports. The counts are a cycle old; memory ports alternate."""

    def __init__(
        self, columns: Columns, microarchitecture: Microarchitecture, queues: Queues, entries: Entries
    ) -> None:
        super().__init__(columns, microarchitecture, queues, entries, _WIDEST)
        units = microarchitecture.units
        self._alternation = Alternation()
        self._loads = units.having(Role.LOAD).mask
        self._store_addresses = units.having(Role.STORE_ADDRESS).mask
        self._store_data = units.having(Role.STORE_DATA).mask
        self.previous = ints(MOST_UNITS)
        """The counts of the cycle before."""
        self._sets = ints(_MOST_SETS)
        """Port sets of the group's uops so far that had a choice."""

    def start(self) -> None:
        """Reset: no uop is bound."""
        Binding.start(self)
        self._alternation.start()
        for unit in range(MOST_UNITS):
            self.previous[unit] = 0

    def look(self) -> None:
        """Take the snapshot of the counts at the beginning of the previous cycle."""
        for unit in range(self._units):
            self.snapshot[unit] = self.previous[unit]
            self.previous[unit] = self.usage[unit]
        self._sets_count = 0

    def settled(self) -> bool:
        """Whether the counts equal those of the cycle before."""
        unit = 0
        while unit < self._units and self.previous[unit] == self.usage[unit]:
            unit += 1
        return unit == self._units

    def choose(self, units: int, slot: int) -> int:
        """The port for a uop in this issue slot."""
        earlier = 0
        for position in range(self._sets_count):
            if self._sets[position] == units:
                earlier += 1
        if self._sets_count < _MOST_SETS:
            self._sets[self._sets_count] = units
            self._sets_count += 1
        if units == self._loads or units == self._store_data or units == self._store_addresses:
            return self.only(self._alternation.next(units))
        # The allowed ports by usage, higher numbers first, without those that lag far behind.
        count = self.rank(units, _IMBALANCE)
        if slot == _LAST_SLOT:
            return self.ranked(0)
        if slot == _LAST_SLOT - 1 and earlier == 0 and count > 1:
            return self.ranked(1)
        return self.ranked(earlier % count)

    def record(self, state: Record) -> None:
        """Record this part of the pipeline's state."""
        state.add(self._alternation.toggles)
        Binding.record(self, state)
        for unit in range(self._units):
            state.add(self.previous[unit])
