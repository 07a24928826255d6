"""What the clock asks of the rule by which uops are bound to units when they issue (uiCA model, 3.11.1)."""

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
"""More than the units, a power of two."""


class Binding:
    """Keeps count of the uops of each unit; a core's rule chooses among the units that a uop may take. All
    uops of a cycle are bound with the same snapshot of the counts."""

    def __init__(
        self,
        columns: Columns,
        microarchitecture: Microarchitecture,
        queues: Queues,
        entries: Entries,
        widest: int = _ANY,
    ) -> None:
        """``widest``: issue slots for which the rule says something. Raises ValueError for a wider core."""
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
        """Uops bound to each unit and not yet gone; the scheduler counts them down."""
        self._weights = ints(MOST_UNITS)
        """What a uop of each unit counts in the outline."""
        for unit in range(MOST_UNITS):
            self._weights[unit] = pow(31, unit + 1, _PRIME)
        self.snapshot = ints(MOST_UNITS)
        """The counts that this cycle's bindings see."""
        self._single = ints(0)
        """By row of a uop the only unit that it may take, NONE if there are several or none."""
        self._ranks = ints(MOST_UNITS)
        """Of the units in their latest order: their counts, and below them what puts higher numbers first."""
        self._ranked = 0
        """The units that were put in order last in this cycle."""
        self._near = 0
        """How many of them the rule chooses among."""

    def start(self) -> None:
        """No uop is bound."""
        for unit in range(MOST_UNITS):
            self.usage[unit] = 0
        program = self._program
        if program.all_uops > len(self._single):
            self._single = ints(2 * program.all_uops)
        for static in range(program.all_uops):
            units = program.u_port_mask[static]
            self._single[static] = self.only(units) if units and units & (units - 1) == 0 else NONE

    def tick(self) -> None:
        """Bind the issue group."""
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
        """Take the snapshot: the counts at the beginning of the cycle."""
        if self._bound.count > 0:
            for unit in range(self._units):
                self.snapshot[unit] = self.usage[unit]

    def choose(self, units: int, slot: int) -> int:
        """The unit for a uop of this issue slot that may take any of these, two or more."""
        return self.only(units & -units)

    def settled(self) -> bool:
        """A cycle without uops changes nothing in it."""
        return True

    def outline(self) -> int:
        """A number that differs wherever the counts are likely to."""
        digest = 0
        for unit in range(self._units):
            digest += self.usage[unit] * self._weights[unit]
        return digest

    def record(self, state: Record) -> None:
        """Its part of the pipeline's state."""
        for unit in range(self._units):
            state.add(self.usage[unit])
            if state.differs:
                break

    def only(self, units: int) -> int:
        """The number of a single unit."""
        number = 0
        while not units >> number & 1:
            number += 1
        return number

    def rank(self, units: int, imbalance: int) -> int:
        """Put these units in order (``ranked``), the one with the lowest count first, on a tie the highest
        number. Returns how many have counts that are less than so much above the lowest, which is the same
        amount each time."""
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
        """The unit at a place of the order that was made last."""
        return -self._ranks[place] & (_NUMBERS - 1)
