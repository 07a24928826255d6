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


class EightPorts(Binding):
    """Even slots take the least used port, odd ones the second; loads alternate."""

    def __init__(
        self, columns: Columns, microarchitecture: Microarchitecture, queues: Queues, entries: Entries
    ) -> None:
        super().__init__(columns, microarchitecture, queues, entries, _WIDEST)
        self._alternation = Alternation()
        self._loads = microarchitecture.units.having(Role.LOAD).mask

    def start(self) -> None:
        """No uop is bound."""
        Binding.start(self)
        self._alternation.start()

    def choose(self, units: int, slot: int) -> int:
        """The port for a uop of this issue slot."""
        if units == self._loads:
            return self.only(self._alternation.next(units))
        near = self.rank(units, _IMBALANCE)
        return self.ranked(1 if slot % 2 and near > 1 else 0)

    def record(self, state: Record) -> None:
        """Its part of the pipeline's state."""
        state.add(self._alternation.toggles)
        Binding.record(self, state)
