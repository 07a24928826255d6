"""Binding where no rule is published: the unit that the fewest uops wait for."""

from __future__ import annotations

from cyclelens.analyzer.simulator.back_end.binding import Binding
from cyclelens.analyzer.simulator.tables.constants import NONE


class FewestWaiting(Binding):
    """Uops of the same cycle count too."""

    def choose(self, units: int, slot: int) -> int:
        """The unit that the fewest uops wait for, on a tie the lowest number; of several schedulers only
        those with a free place count, as long as there is one."""
        entries = self._entries
        best = NONE
        for unit in range(self._units):
            if not units >> unit & 1:
                continue
            if best != NONE and entries.several and entries.free(unit) <= 0:
                continue
            if (
                best == NONE
                or self.usage[unit] < self.usage[best]
                or (entries.several and entries.free(best) <= 0)
            ):
                best = unit
        return best
