"""Binding with six ports: Sandy Bridge and Ivy Bridge (uiCA model, 3.11.1)."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.units import Role
from cyclelens.analyzer.simulator.back_end.alternation import Alternation
from cyclelens.analyzer.simulator.back_end.binding import Binding
from cyclelens.analyzer.simulator.tables.arrays import Record, ints
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import NONE
from cyclelens.analyzer.simulator.tables.entries import Entries
from cyclelens.analyzer.simulator.tables.queues import Queues

_IMBALANCE = 3
_SLOTS = 4


class SixPorts(Binding):
    """Even slots take the least used port, odd ones the most used; loads alternate."""

    def __init__(
        self, columns: Columns, microarchitecture: Microarchitecture, queues: Queues, entries: Entries
    ) -> None:
        super().__init__(columns, microarchitecture, queues, entries, _SLOTS)
        units = microarchitecture.units
        self._alternation = Alternation()
        self._loads = units.having(Role.LOAD).mask
        self._alus = units.having(Role.ALU).mask
        self._by_slot = ints(_SLOTS * self._units)
        """The ALU to take, by the least used ALU and the slot."""
        alus = set(units.numbers(units.having(Role.ALU)))
        for least in alus:
            others = alus - {least}
            for slot, choice in enumerate((least, max(others), min(others), least)):
                self._by_slot[_SLOTS * least + slot] = choice

    def start(self) -> None:
        """Reset: no uop is bound."""
        Binding.start(self)
        self._alternation.start()

    def choose(self, units: int, slot: int) -> int:
        """The port for a uop in this issue slot."""
        if units == self._loads:
            return self.only(self._alternation.next(units))
        least = self._least(units)
        most = self._most(units)
        if self.snapshot[most] - self.snapshot[least] >= _IMBALANCE:
            return least
        if units == self._alus:
            return self._by_slot[_SLOTS * least + slot]
        return least if slot % 2 == 0 else most

    def record(self, state: Record) -> None:
        """Record this part of the pipeline's state."""
        state.add(self._alternation.toggles)
        Binding.record(self, state)

    def _least(self, units: int) -> int:
        """The least used port, on a tie the lowest."""
        best = NONE
        for unit in range(self._units):
            if units >> unit & 1 and (best == NONE or self.snapshot[unit] < self.snapshot[best]):
                best = unit
        return best

    def _most(self, units: int) -> int:
        """The most used port, on a tie the highest."""
        best = NONE
        for unit in range(self._units):
            if units >> unit & 1 and (best == NONE or self.snapshot[unit] >= self.snapshot[best]):
                best = unit
        return best
