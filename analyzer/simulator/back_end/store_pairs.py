"""Ice Lake and its descendants: two stores leave together only for the same cache line (Z1)."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.units import Role
from cyclelens.analyzer.simulator.back_end.dispatch_rule import DispatchRule
from cyclelens.analyzer.simulator.tables.arrays import Long, SequenceQueues
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import QUEUED_FOR_PAIR

_LINE_BYTES = 64


class StorePairs(DispatchRule):
    """Of two stores that are not known to lie within the length of a line the younger one waits."""

    def __init__(self, columns: Columns, microarchitecture: Microarchitecture) -> None:
        units = microarchitecture.units
        self._columns = columns
        self._program = columns.program
        numbers = units.numbers(units.having(Role.STORE_DATA))
        self._one: int = numbers[0]
        self._other: int = numbers[1]

    def held_back(self, ready: SequenceQueues) -> int:
        """The unit of the younger of two stores that may not leave together."""
        if ready.counts[self._one] == 0 or ready.counts[self._other] == 0:
            return 0
        first = ready.oldest(self._one)
        second = ready.oldest(self._other)
        if (
            self._program.u_has_address[self._columns.static[first]]
            and self._program.u_has_address[self._columns.static[second]]
            and not self._may_pair(self._columns.store[first], self._columns.store[second])
        ):
            self._columns.queue(max(first, second), QUEUED_FOR_PAIR, min(first, second))
            return 1 << (self._other if first < second else self._one)
        return 0

    def _may_pair(self, one: int, other: int) -> bool:
        """Whether both have the same address expression and displacements that differ by less than a line.
        If addresses are sums, the base includes the displacement, and its origin does not matter."""
        columns = self._columns
        between: Long = columns.store_displacement[one] - columns.store_displacement[other]
        bases: Long = columns.store_base[one] - columns.store_base[other]
        if self._program.exact_values:
            between += bases
            bases = 0
        return (
            bases == 0
            and columns.store_index[one] == columns.store_index[other]
            and columns.store_scale[one] == columns.store_scale[other]
            and abs(between) < _LINE_BYTES
        )
