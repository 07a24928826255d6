"""Interface of the rule by which loads take over the values of stores in flight."""

from __future__ import annotations

from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import NONE


class MemoryRenaming:
    """Decides which loads need not wait for the store that they read from. In this base class all loads
    wait; cores without a rule use it."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._program = columns.program
        self.active = False
        """Whether any load can ever take over a value."""

    def stored(self, store: int, value: int, key: int, owed: int) -> None:
        """A store's data are renamed. ``key``: the register that holds them, NONE for a value within the
        instruction; ``owed``: whether a constant is owed to it (``Addition``)."""

    def value(self, uop: int, i: int, store: int) -> int:
        """The row of the value that a load takes over from this store, NONE if it has to load."""
        return NONE
