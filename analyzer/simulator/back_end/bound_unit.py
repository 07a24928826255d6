"""Every unit takes the oldest ready uop bound to it; uops for a divider also wait until the divider is free
(uiCA model, 3.12; Z3)."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.units import Role
from cyclelens.analyzer.simulator.back_end.dispatch_rule import DispatchRule
from cyclelens.analyzer.simulator.back_end.picker import Picker
from cyclelens.analyzer.simulator.tables.arrays import Column, Record, SequenceQueues, ints
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import NEVER, NONE, QUEUED_FOR_DIVIDER, QUEUED_FOR_PORT
from cyclelens.analyzer.simulator.tables.entries import Entries


class BoundUnit(Picker):
    """One queue per unit, and one per divider behind it. ``usage``: uops bound to each unit and not yet
    dispatched."""

    def __init__(
        self,
        columns: Columns,
        microarchitecture: Microarchitecture,
        entries: Entries,
        usage: Column,
        rule: DispatchRule | None,
    ) -> None:
        super().__init__()
        units = microarchitecture.units
        self._columns = columns
        self._program = columns.program
        self._entries = entries
        self._usage = usage
        self._rule = rule
        self._units = len(units)
        self._dividers = len(microarchitecture.dividers)
        self._queues = SequenceQueues(self._units + self._dividers)
        self._divider_of = ints(self._units)
        self._leaves_through = ints(self._units)
        """The divider and the unit that a division takes, by the unit that it is bound to."""
        for number, divider in enumerate(microarchitecture.dividers):
            for name in divider.units:
                self._divider_of[units.names.index(name)] = number
                self._leaves_through[units.names.index(name)] = units.names.index(divider.through or name)
        self._through = 0
        """Mask of the units through which divisions leave."""
        for unit in range(self._units):
            self._through |= 1 << self._leaves_through[unit]
        self._latest = ints(self._units)
        """The uop that each unit took last."""
        self._latest_division = ints(self._dividers)
        self._blocked = ints(self._dividers)
        """Cycles for which each divider remains busy."""

    def start(self, most: int) -> None:
        """Reset: no uop is ready."""
        self._queues.start(most)
        self.count = 0
        self._ready = 0
        """Number of uops in all queues."""
        self._filled = 0
        """Mask of the units whose queues are not empty."""
        self._dividing = 0
        """Number of uops in the queues of dividers."""
        self._busy_dividers = 0
        for unit in range(self._units):
            self._latest[unit] = NONE
        for divider in range(self._dividers):
            self._blocked[divider] = 0
            self._latest_division[divider] = NONE
        if self._rule is not None:
            self._rule.start()

    def admit(self, first: int) -> None:
        """The uops of a list (``next_uop``) may leave from now on."""
        columns = self._columns
        uop = first
        while uop != NONE:
            queue = columns.port[uop]
            if self._program.u_divider[columns.static[uop]]:
                queue = self._units + self._divider_of[queue]
                self._dividing += 1
            else:
                self._filled |= 1 << queue
            self._queues.push(queue, uop)
            self._ready += 1
            uop = columns.next_uop[uop]

    def tick(self, cycle: int) -> None:
        """Every unit takes a uop if it has one."""
        for position in range(self.count):
            self._usage[self._columns.port[self.dispatched[position]]] -= 1
        self.count = 0
        if self._ready > 0:
            self._dispatch(cycle)
        self.skip(1)

    def next_event(self, cycle: int) -> int:
        """The cycle in which a divider takes its next uop, if no uop has just left and all other ready uops
        are for dividers."""
        if self.count > 0 or self._filled:
            return cycle + 1
        following = NEVER
        for divider in range(self._dividers if self._dividing > 0 else 0):
            if self._queues.counts[self._units + divider] > 0:
                # The counter is decremented at the end of a cycle and read before that.
                following = min(following, cycle + self._blocked[divider] + 1)
        return following

    def skip(self, cycles: int) -> None:
        """Skip this many cycles."""
        if self._busy_dividers:
            for divider in range(self._dividers):
                if self._blocked[divider] > cycles:
                    self._blocked[divider] -= cycles
                elif self._blocked[divider]:
                    self._blocked[divider] = 0
                    self._busy_dividers -= 1
        if self._rule is not None:
            self._rule.pass_by(cycles)

    def record(self, state: Record) -> None:
        """Record this part of the pipeline's state."""
        for divider in range(self._dividers):
            state.add(self._blocked[divider])
        for position in range(self.count):
            state.add(self._columns.port[self.dispatched[position]])
        if self._rule is not None:
            self._rule.record(state)

    def _dispatch(self, cycle: int) -> None:
        queues = self._queues
        held = 0 if self._rule is None else self._rule.held_back(queues)
        divides: bool = self._dividing > 0
        filled = self._filled & ~held
        left = filled | self._through if divides else filled
        unit = 0
        while left:
            if left & 1 and not (divides and self._divide(unit, cycle)) and filled >> unit & 1:
                uop = queues.pop(unit)
                if queues.counts[unit] == 0:
                    self._filled ^= 1 << unit
                self._leave(uop, unit, cycle)
                if self._rule is not None:
                    self._rule.left(uop, unit)
            left >>= 1
            unit += 1

    def _divide(self, unit: int, cycle: int) -> bool:
        """Whether this unit takes a uop for a divider in this cycle."""
        queues = self._queues
        for divider in range(self._dividers):
            queue = self._units + divider
            if queues.counts[queue] == 0 or self._blocked[divider] > 0:
                continue
            uop = queues.oldest(queue)
            if self._leaves_through[self._columns.port[uop]] != unit:
                continue
            if queues.counts[unit] == 0 or uop < queues.oldest(unit):
                queues.pop(queue)
                self._blocked[divider] = self._program.u_divider[self._columns.static[uop]]
                self._busy_dividers += 1
                self._dividing -= 1
                self._leave(uop, unit, cycle)
                if self._columns.ready[uop] < cycle and self._was_busy(divider, cycle - 1):
                    self._columns.queue(uop, QUEUED_FOR_DIVIDER, self._latest_division[divider])
                self._latest_division[divider] = uop
                return True
        return False

    def _was_busy(self, divider: int, cycle: int) -> bool:
        """Whether the divider was still busy with its previous uop."""
        uop = self._latest_division[divider]
        if uop == NONE:
            return False
        return cycle < self._columns.dispatched[uop] + self._program.u_divider[self._columns.static[uop]]

    def _leave(self, uop: int, unit: int, cycle: int) -> None:
        columns = self._columns
        if columns.watched:
            before = self._latest[unit]
            if columns.ready[uop] < cycle and before != NONE and columns.dispatched[before] == cycle - 1:
                columns.queue(uop, QUEUED_FOR_PORT, before)
            self._latest[unit] = uop
        columns.dispatched[uop] = cycle
        self.dispatched[self.count] = uop
        self.count += 1
        self._entries.leave(columns.port[uop])
        self._ready -= 1


class EveryReady(BoundUnit):
    """Uops that could use another unit never wait for theirs: an upper limit of what better binding could
    gain. They leave as soon as they are ready and take no unit from others. Memory accesses, divisions and
    uops for a single unit are dispatched as usual."""

    def __init__(
        self,
        columns: Columns,
        microarchitecture: Microarchitecture,
        entries: Entries,
        usage: Column,
        rule: DispatchRule | None,
    ) -> None:
        super().__init__(columns, microarchitecture, entries, usage, rule)
        self._memory: int = 0
        for role in (Role.LOAD, Role.STORE_ADDRESS, Role.STORE_DATA):
            self._memory |= microarchitecture.units.having(role).mask
        self._unbound = ints(0)
        """Ready uops that leave in this cycle unconditionally."""
        self._unbound_count = 0

    def start(self, most: int) -> None:
        """Reset: no uop is ready."""
        BoundUnit.start(self, most)
        self._unbound_count = 0
        if most > len(self._unbound):
            self._unbound = ints(2 * most)
            self.dispatched = ints(2 * most + 2 * self._units)

    def admit(self, first: int) -> None:
        """The uops of a list (``next_uop``) may leave from now on."""
        columns = self._columns
        uop = first
        while uop != NONE:
            following = columns.next_uop[uop]
            static = columns.static[uop]
            units = self._program.u_port_mask[static]
            if units & (units - 1) == 0 or units & self._memory or self._program.u_divider[static]:
                columns.next_uop[uop] = NONE
                BoundUnit.admit(self, uop)
            else:
                self._unbound[self._unbound_count] = uop
                self._unbound_count += 1
                self._ready += 1
            uop = following

    def next_event(self, cycle: int) -> int:
        """The next cycle if such uops are ready."""
        return cycle + 1 if self._unbound_count > 0 else BoundUnit.next_event(self, cycle)

    def _dispatch(self, cycle: int) -> None:
        BoundUnit._dispatch(self, cycle)
        for position in range(self._unbound_count):
            uop = self._unbound[position]
            self._leave(uop, self._columns.port[uop], cycle)
        self._unbound_count = 0
