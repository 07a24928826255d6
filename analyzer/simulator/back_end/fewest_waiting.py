"""Binding where no rule is published: the unit that the fewest uops wait for."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.simulator.back_end.binding import Binding
from cyclelens.analyzer.simulator.tables.arrays import Record, ints
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import NONE
from cyclelens.analyzer.simulator.tables.entries import Entries
from cyclelens.analyzer.simulator.tables.queues import Queues


class FewestWaiting(Binding):
    """Uops of the same cycle count too. Units that equally few uops wait for take turns: if the same one
    always came first, chains of a short loop would meet there again and again, each holding up the others."""

    def __init__(
        self, columns: Columns, microarchitecture: Microarchitecture, queues: Queues, entries: Entries
    ) -> None:
        super().__init__(columns, microarchitecture, queues, entries)
        self._turns = ints(self._units)
        """The units, the one that was not chosen for the longest time first."""

    def start(self) -> None:
        """No uop is bound."""
        Binding.start(self)
        for unit in range(self._units):
            self._turns[unit] = unit

    def choose(self, units: int, slot: int) -> int:
        """The unit that the fewest uops wait for, on a tie the one that was not chosen for the longest time;
        of several schedulers only those with a free place count, as long as there is one."""
        entries = self._entries
        best = NONE
        best_turn = NONE
        for turn in range(self._units):
            unit = self._turns[turn]
            if not units >> unit & 1:
                continue
            if best != NONE and entries.by_uop and entries.free(unit) <= 0:
                continue
            if (
                best == NONE
                or self.usage[unit] < self.usage[best]
                or (entries.by_uop and entries.free(best) <= 0)
            ):
                best = unit
                best_turn = turn
        for turn in range(best_turn, self._units - 1):
            self._turns[turn] = self._turns[turn + 1]
        self._turns[self._units - 1] = best
        return best

    def record(self, state: Record) -> None:
        """Its part of the pipeline's state."""
        Binding.record(self, state)
        for turn in range(self._units):
            state.add(self._turns[turn])
