"""Binds uops to the units with the fewest waiting uops: for cores without a published rule, or whose
published rule contradicts measurements. Variants show how much a figure depends on the rule (P4, P5)."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.units import Role
from cyclelens.analyzer.simulator.back_end.binding import Binding
from cyclelens.analyzer.simulator.back_end.chance import Chance
from cyclelens.analyzer.simulator.back_end.turns import Turns
from cyclelens.analyzer.simulator.tables.arrays import Record, ints
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import NONE
from cyclelens.analyzer.simulator.tables.entries import Entries
from cyclelens.analyzer.simulator.tables.queues import Queues

_IMBALANCE = 3
_MANY = 1 << 20


class FewestWaiting(Binding):
    """Counts include the uops bound earlier in the cycle. Units with equally few uops alternate: if the same
    one always came first, chains of a short loop would collide there again and again and delay each
    other."""

    def __init__(
        self, columns: Columns, microarchitecture: Microarchitecture, queues: Queues, entries: Entries
    ) -> None:
        super().__init__(columns, microarchitecture, queues, entries)
        self._turns = ints(self._units)
        """Units, least recently chosen first."""

    def start(self) -> None:
        """Reset: no uop is bound."""
        Binding.start(self)
        for unit in range(self._units):
            self._turns[unit] = unit

    def choose(self, units: int, slot: int) -> int:
        """The unit with the fewest waiting uops, on a tie the least recently chosen one. With several
        schedulers, only units whose scheduler has a free place count, as long as there is one."""
        entries = self._entries
        best = NONE
        best_turn = NONE
        for turn in range(self._units):
            unit = self._turns[turn]
            if not units >> unit & 1:
                continue
            if best != NONE and entries.by_uop and entries.free(unit) <= 0:
                continue
            if (
                best == NONE
                or self.usage[unit] < self.usage[best]
                or (entries.by_uop and entries.free(best) <= 0)
            ):
                best = unit
                best_turn = turn
        for turn in range(best_turn, self._units - 1):
            self._turns[turn] = self._turns[turn + 1]
        self._turns[self._units - 1] = best
        return best

    def record(self, state: Record) -> None:
        """Record this part of the pipeline's state."""
        Binding.record(self, state)
        for turn in range(self._units):
            state.add(self._turns[turn])


class LoadsInTurn(FewestWaiting):
    """Loads take turns on their units; other uops take the unit with the fewest waiting uops."""

    def __init__(
        self, columns: Columns, microarchitecture: Microarchitecture, queues: Queues, entries: Entries
    ) -> None:
        super().__init__(columns, microarchitecture, queues, entries)
        self._loads = microarchitecture.units.having(Role.LOAD).mask
        self._load_turns = Turns()

    def start(self) -> None:
        """Reset: no uop is bound."""
        FewestWaiting.start(self)
        self._load_turns.start()

    def choose(self, units: int, slot: int) -> int:
        """The next unit in turn for a load; otherwise the unit that the rule chooses."""
        if units == self._loads:
            return self._load_turns.next(units)
        return self.among(units)

    def among(self, units: int) -> int:
        """The unit for an operation that may take any of these."""
        return FewestWaiting.choose(self, units, 0)

    def record(self, state: Record) -> None:
        """Record this part of the pipeline's state."""
        FewestWaiting.record(self, state)
        self._load_turns.record(state)


class LeastBound(LoadsInTurn):
    """Variant: counts include uops bound earlier in the cycle; the highest number wins a tie. Loads take
    turns."""

    def among(self, units: int) -> int:
        """The unit with the fewest bound uops."""
        best = NONE
        for unit in range(self._units):
            if units >> unit & 1 and (best == NONE or self.usage[unit] <= self.usage[best]):
                best = unit
        return best


class NearChance(LoadsInTurn):
    """Variant: chooses at random among the units with less than three bound uops more than the least used
    one, by the counts at the beginning of the cycle. Loads take turns."""

    def __init__(
        self,
        columns: Columns,
        microarchitecture: Microarchitecture,
        queues: Queues,
        entries: Entries,
        seed: int,
    ) -> None:
        super().__init__(columns, microarchitecture, queues, entries)
        self._chance = Chance(seed)

    def start(self) -> None:
        """Reset: no uop is bound."""
        LoadsInTurn.start(self)
        self._chance.start()

    def record(self, state: Record) -> None:
        """Record this part of the pipeline's state."""
        LoadsInTurn.record(self, state)
        state.add(self._chance.state)

    def among(self, units: int) -> int:
        """A random unit of the least used ones."""
        least = _MANY
        for unit in range(self._units):
            if units >> unit & 1 and self.snapshot[unit] < least:
                least = self.snapshot[unit]
        near = 0
        for unit in range(self._units):
            if units >> unit & 1 and self.snapshot[unit] < least + _IMBALANCE:
                near |= 1 << unit
        return self._chance.one_of(near)
