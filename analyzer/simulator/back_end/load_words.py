"""Golden Cove and its descendants: three loads leave together only if they do not all read one word (Z6)."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.units import Role
from cyclelens.analyzer.simulator.back_end.dispatch_rule import DispatchRule
from cyclelens.analyzer.simulator.tables.arrays import SequenceQueues
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import LINE_WORDS, QUEUED_FOR_PAIR

_ALL_WORDS = (1 << LINE_WORDS) - 1


class LoadWords(DispatchRule):
    """Of three loads that read the same word of four bytes, by its offset within the line, the youngest
    waits. The lines may differ."""

    def __init__(self, columns: Columns, microarchitecture: Microarchitecture) -> None:
        units = microarchitecture.units
        self._columns = columns
        loads = units.numbers(units.having(Role.LOAD))
        self._first: int = loads[0]
        self._second: int = loads[1]
        self._third: int = loads[2]

    def held_back(self, ready: SequenceQueues) -> int:
        """The unit of the youngest of three loads that collide."""
        if not (ready.counts[self._first] and ready.counts[self._second] and ready.counts[self._third]):
            return 0
        words = self._columns.words
        first = ready.oldest(self._first)
        second = ready.oldest(self._second)
        third = ready.oldest(self._third)
        if words[first] >> LINE_WORDS != words[second] >> LINE_WORDS:
            return 0
        if words[first] >> LINE_WORDS != words[third] >> LINE_WORDS:
            return 0
        if not words[first] & words[second] & words[third] & _ALL_WORDS:
            return 0
        oldest = min(first, min(second, third))
        if first > second and first > third:
            return self._hold(first, self._first, oldest)
        if second > third:
            return self._hold(second, self._second, oldest)
        return self._hold(third, self._third, oldest)

    def _hold(self, uop: int, unit: int, oldest: int) -> int:
        self._columns.collided[uop] = 1
        self._columns.queue(uop, QUEUED_FOR_PAIR, oldest)
        return 1 << unit
