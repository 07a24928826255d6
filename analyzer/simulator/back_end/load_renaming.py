"""Interface of the rule by which loads take over the values of stores in flight, on a core that counts
macro-ops."""

from __future__ import annotations

from cyclelens.analyzer.simulator.tables.arrays import Record
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.in_flight import InFlight
from cyclelens.analyzer.simulator.tables.operations import Operations


class LoadRenaming:
    """Decides which loads need not wait for a store that covers them and begins at the same byte. In this
    base class all loads wait; cores without a rule use it."""

    def __init__(self, columns: Columns, operations: Operations, in_flight: InFlight) -> None:
        self._columns = columns
        self._program = columns.program
        self._operations = operations
        self._flight = in_flight

    def start(self) -> None:
        """Reset: nothing was loaded."""

    def takes_over(self, uop: int, store: int, base: int, index: int) -> bool:
        """Whether a load takes over the value of a store. ``base``, ``index``: the values that its address
        is made from, or NONE."""
        return False

    def mistakes(self, uop: int, store: int, base: int, index: int) -> bool:
        """Whether a load of other bytes than the store's is mistaken for one that reads them, because its
        displacement looks like the store's."""
        return False

    def record(self, state: Record) -> None:
        """Record this part of the pipeline's state."""
