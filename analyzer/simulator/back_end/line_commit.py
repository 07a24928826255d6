"""Golden Cove and its descendants: stores of one cache line leave per cycle (Z5)."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.simulator.back_end.commit_rule import CommitRule
from cyclelens.analyzer.simulator.tables.arrays import Long
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import CODE_LINE

_MOST = 2
"""Stores per cycle; a store that fills a line counts twice."""


class LineCommit(CommitRule):
    """The second store leaves with the first if it is for the same line."""

    def __init__(self, columns: Columns, microarchitecture: Microarchitecture) -> None:
        self._columns = columns
        self._count = 0
        self._line: Long = 0

    def next_cycle(self) -> None:
        """A cycle begins."""
        self._count = 0

    def may_leave(self, store: int) -> bool:
        """Whether it is the first store of the cycle, or a second one to the same line."""
        line = self._line_of(store)
        whole: bool = self._columns.store_bytes[store] >= CODE_LINE
        if self._count >= _MOST or (self._count > 0 and (whole or line != self._line)):
            return False
        self._count += 2 if whole else 1
        self._line = line
        return True

    def _line_of(self, store: int) -> Long:
        """The number of the line that a store writes to. Unknown addresses count as aligned to a line."""
        columns = self._columns
        address = columns.store_base[store] + columns.store_index[store] * columns.store_scale[store]
        return (address + columns.store_displacement[store]) // CODE_LINE
