"""Writes finished stores to the cache (hardware model only): in order, one per cycle, after retirement.

A load that overlaps a store but cannot forward from it waits until the store has left. Intel's optimization
manual describes when forwarding fails; measurements show that such loads wait for the cache
(docs/accuracy.md).
"""

from __future__ import annotations

from cyclelens.analyzer.simulator.tables.arrays import Record
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import NONE, UNKNOWN


class StoreBuffer:
    """Sets for every store the cycle in which it leaves."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns

    def start(self) -> None:
        """Reset to empty."""
        self._oldest = 0
        """The oldest store that has not left."""

    def tick(self, cycle: int) -> None:
        """Let one store leave, if it may."""
        if not self.waits():
            self._columns.store_left[self._oldest] = cycle
            self._oldest += 1

    def waits(self) -> bool:
        """Whether no store can leave before one retires."""
        columns = self._columns
        if self._oldest == columns.stores:
            return True
        data = columns.store_uop[self._oldest]
        return data == NONE or columns.retired[data] == UNKNOWN

    def record(self, state: Record) -> None:
        """Record this part of the pipeline's state; ``Memory`` records when stores left."""
        state.add(self._columns.stores - self._oldest)
