"""What the renamer of macro-ops asks of the rule by which loads take over the values of stores in flight."""

from __future__ import annotations

from cyclelens.analyzer.simulator.tables.arrays import Record
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.in_flight import InFlight
from cyclelens.analyzer.simulator.tables.operations import Operations


class LoadRenaming:
    """Decides which loads need not wait for the store that covers them and begins where they do. A core that
    names no rule has this one: all wait."""

    def __init__(self, columns: Columns, operations: Operations, in_flight: InFlight) -> None:
        self._columns = columns
        self._program = columns.program
        self._operations = operations
        self._flight = in_flight

    def start(self) -> None:
        """Nothing was loaded."""

    def takes_over(self, uop: int, store: int, base: int, index: int) -> bool:
        """Whether a load takes over what a store stores. ``base``, ``index``: the values that its address is
        made from, NONE where it has none."""
        return False

    def mistakes(self, uop: int, store: int, base: int, index: int) -> bool:
        """Whether a load of other bytes than a store's, at a displacement that looks like the store's, is
        taken for one that reads them."""
        return False

    def record(self, state: Record) -> None:
        """Its part of the pipeline's state."""
