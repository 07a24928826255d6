"""The way of finished stores into the cache (hardware model only): in order, one per cycle, after retirement.

A load that meets a store that it cannot forward from waits for that. Intel's optimization manual describes
when forwarding fails; that such loads wait for the cache is seen on real cores (docs/accuracy.md).
"""

from __future__ import annotations

from cyclelens.analyzer.simulator.tables.arrays import Record
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import NONE, UNKNOWN


class StoreBuffer:
    """Stamps every store with the cycle in which it leaves."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns

    def start(self) -> None:
        """Empty."""
        self._oldest = 0
        """The oldest store that has not left."""

    def tick(self, cycle: int) -> None:
        """One store may leave."""
        if not self.waits():
            self._columns.store_left[self._oldest] = cycle
            self._oldest += 1

    def waits(self) -> bool:
        """No store can leave before one retires."""
        columns = self._columns
        if self._oldest == columns.stores:
            return True
        data = columns.store_uop[self._oldest]
        return data == NONE or columns.retired[data] == UNKNOWN

    def record(self, state: Record) -> None:
        """Its part of the pipeline's state; when stores left is the memory's."""
        state.add(self._columns.stores - self._oldest)
