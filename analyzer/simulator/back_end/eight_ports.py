"""Binding with eight ports: Haswell to Cascade Lake (uiCA model, 3.11.1)."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.units import Role
from cyclelens.analyzer.simulator.back_end.alternation import Alternation
from cyclelens.analyzer.simulator.back_end.binding import Binding
from cyclelens.analyzer.simulator.tables.arrays import Record
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.entries import Entries
from cyclelens.analyzer.simulator.tables.queues import Queues

_WIDEST = 8
_IMBALANCE = 3
_FAR = 1 << 20
"""Larger than any count."""


class EightPorts(Binding):
    """Even slots take the least used port, odd ones the second; loads alternate."""

    def __init__(
        self, columns: Columns, microarchitecture: Microarchitecture, queues: Queues, entries: Entries
    ) -> None:
        super().__init__(columns, microarchitecture, queues, entries, _WIDEST)
        self._alternation = Alternation()
        self._loads = microarchitecture.units.having(Role.LOAD).mask
        self._first = 0
        self._second = 0
        """Ports for even and odd slots, of the set ranked last in this cycle."""

    def start(self) -> None:
        """Reset: no uop is bound."""
        Binding.start(self)
        self._alternation.start()

    def choose(self, units: int, slot: int) -> int:
        """The port for a uop in this issue slot."""
        if units == self._loads:
            return self.only(self._alternation.next(units))
        if units != self._ranked:
            self._rank_two(units)
        return self._second if slot & 1 else self._first

    def record(self, state: Record) -> None:
        """Record this part of the pipeline's state."""
        state.add(self._alternation.toggles)
        Binding.record(self, state)

    def _rank_two(self, units: int) -> None:
        """Find the least used of these ports (on a tie the highest) and the second, unless that has three
        uops more."""
        self._ranked = units
        first = second = unit = 0
        least = following = _FAR
        while units:
            if units & 1:
                count = self.snapshot[unit]
                if count <= least:
                    second = first
                    following = least
                    first = unit
                    least = count
                elif count <= following:
                    second = unit
                    following = count
            units >>= 1
            unit += 1
        self._first = first
        self._second = second if following < least + _IMBALANCE else first
