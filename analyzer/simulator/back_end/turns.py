"""Sets of units whose uops take turns regardless of load."""

from __future__ import annotations

from cyclelens.analyzer.model.units import MOST_UNITS
from cyclelens.analyzer.simulator.tables.arrays import Record, ints


class Turns:
    """Remembers the unit taken last of each set. The sets are disjoint."""

    def __init__(self) -> None:
        self._latest = ints(MOST_UNITS)
        """The unit taken last, by the lowest unit of the set."""

    def start(self) -> None:
        """Reset: the second unit of every set comes first."""
        for unit in range(MOST_UNITS):
            self._latest[unit] = 0

    def next(self, units: int) -> int:
        """The unit of the set above the latest one, or else the lowest."""
        lowest = 0
        while not units >> lowest & 1:
            lowest += 1
        unit = max(self._latest[lowest], lowest) + 1
        while unit < MOST_UNITS and not units >> unit & 1:
            unit += 1
        if unit == MOST_UNITS:
            unit = lowest
        self._latest[lowest] = unit
        return unit

    def record(self, state: Record) -> None:
        """Record this part of the pipeline's state."""
        for unit in range(MOST_UNITS):
            state.add(self._latest[unit])
