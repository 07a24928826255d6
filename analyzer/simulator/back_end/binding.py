"""Interface of the rule that binds uops to units when they issue (uiCA model, 3.11.1)."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.units import MOST_UNITS
from cyclelens.analyzer.simulator.tables.arrays import Record, ints
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import NONE
from cyclelens.analyzer.simulator.tables.entries import Entries
from cyclelens.analyzer.simulator.tables.queues import Queues

_ANY = 1 << 16
_PRIME = 65_521
_NUMBERS = 1 << 5
"""A power of two larger than the number of units."""


class Binding:
    """Counts the uops bound to each unit; the core's rule chooses among the units that a uop may take. All
    uops of a cycle are bound with the same snapshot of the counts."""

    def __init__(
        self,
        columns: Columns,
        microarchitecture: Microarchitecture,
        queues: Queues,
        entries: Entries,
        widest: int = _ANY,
    ) -> None:
        """``widest``: number of issue slots that the rule defines. Raises ValueError for a wider core."""
        if microarchitecture.issue_width > widest:
            raise ValueError(
                f"{microarchitecture.name}: at most {widest} uops per cycle can be bound to ports"
            )
        self._columns = columns
        self._program = columns.program
        self._bound = queues.bound
        self._entries = entries
        self._units = len(microarchitecture.units)
        self.usage = ints(MOST_UNITS)
        """Uops bound to each unit and not yet dispatched; the scheduler decrements it."""
        self._weights = ints(MOST_UNITS)
        """Weight of a uop of each unit in the outline."""
        for unit in range(MOST_UNITS):
            self._weights[unit] = pow(31, unit + 1, _PRIME)
        self.snapshot = ints(MOST_UNITS)
        """The counts that the bindings of this cycle see."""
        self._single = ints(0)
        """The only unit that a uop may take, by row of the uop; NONE if there are several or none."""
        self._ranks = ints(MOST_UNITS)
        """Units in their latest order: the count in the high bits, and a tie-break in favour of higher
        numbers below."""
        self._ranked = 0
        """The units ranked last in this cycle."""
        self._near = 0
        """How many of the ranked units the rule chooses among."""

    def start(self) -> None:
        """Reset: no uop is bound."""
        for unit in range(MOST_UNITS):
            self.usage[unit] = 0
        program = self._program
        if program.all_uops > len(self._single):
            self._single = ints(2 * program.all_uops)
        for static in range(program.all_uops):
            units = program.u_port_mask[static]
            self._single[static] = self.only(units) if units and units & (units - 1) == 0 else NONE

    def tick(self) -> None:
        """Bind the uops of the issue group to units."""
        columns = self._columns
        program = self._program
        self.look()
        self._ranked = 0
        for place in range(self._bound.count):
            uop = self._bound.firsts[place]
            static = columns.static[uop]
            unit = self._single[static]
            if unit == NONE:
                unit = self.choose(program.u_port_mask[static], self._bound.seconds[place])
            columns.port[uop] = unit
            self.usage[unit] += 1
            self._entries.enter(unit)

    def look(self) -> None:
        """Take the snapshot of the counts at the beginning of the cycle."""
        if self._bound.count > 0:
            for unit in range(self._units):
                self.snapshot[unit] = self.usage[unit]

    def choose(self, units: int, slot: int) -> int:
        """The unit for a uop in this issue slot that may take any of ``units`` (two or more)."""
        return self.only(units & -units)

    def settled(self) -> bool:
        """Whether a cycle without uops leaves the state unchanged."""
        return True

    def outline(self) -> int:
        """A hash of the counts."""
        digest = 0
        for unit in range(self._units):
            digest += self.usage[unit] * self._weights[unit]
        return digest

    def record(self, state: Record) -> None:
        """Record this part of the pipeline's state."""
        for unit in range(self._units):
            state.add(self.usage[unit])
            if state.differs:
                break

    def only(self, units: int) -> int:
        """The number of the only unit in the mask."""
        number = 0
        while not units >> number & 1:
            number += 1
        return number

    def rank(self, units: int, imbalance: int) -> int:
        """Sort these units into ``ranked``: lowest count first, on a tie the highest number first. Returns
        how many have a count less than ``imbalance`` above the lowest. ``imbalance`` must be the same in
        every call."""
        if units == self._ranked:
            return self._near
        self._ranked = units
        count = unit = 0
        while units:
            if units & 1:
                rank = self.snapshot[unit] * _NUMBERS - unit
                place = count
                while place > 0 and self._ranks[place - 1] > rank:
                    self._ranks[place] = self._ranks[place - 1]
                    place -= 1
                self._ranks[place] = rank
                count += 1
            units >>= 1
            unit += 1
        farthest = (self.snapshot[self.ranked(0)] + imbalance - 1) * _NUMBERS
        near = 1
        while near < count and self._ranks[near] <= farthest:
            near += 1
        self._near = near
        return near

    def ranked(self, place: int) -> int:
        """The unit at this place of the latest order."""
        return -self._ranks[place] & (_NUMBERS - 1)
