"""Every unit takes the oldest ready uop that was bound to it; uops for a divider wait for that, too
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
    """A queue for each unit, and behind them one for each divider. ``usage``: uops bound to each unit and not
    yet gone."""

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
        """Of a uop for a divider by the unit that it is bound to: the divider, and the unit that it takes."""
        for number, divider in enumerate(microarchitecture.dividers):
            for name in divider.units:
                self._divider_of[units.names.index(name)] = number
                self._leaves_through[units.names.index(name)] = units.names.index(divider.through or name)
        self._through = 0
        """Units that divisions leave through, as bits."""
        for unit in range(self._units):
            self._through |= 1 << self._leaves_through[unit]
        self._latest = ints(self._units)
        """The uop that each unit took last."""
        self._latest_division = ints(self._dividers)
        self._blocked = ints(self._dividers)
        """Cycles for which each divider is still busy."""

    def start(self, most: int) -> None:
        """No uop is ready."""
        self._queues.start(most)
        self.count = 0
        self._ready = 0
        """Uops in all queues."""
        self._filled = 0
        """Units whose queues are not empty, as bits."""
        self._dividing = 0
        """Uops in the queues of dividers."""
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
        """Every unit takes a uop, if it has one."""
        for position in range(self.count):
            self._usage[self._columns.port[self.dispatched[position]]] -= 1
        self.count = 0
        if self._ready > 0:
            self._dispatch(cycle)
        self.skip(1)

    def next_event(self, cycle: int) -> int:
        """When a divider takes the next uop, if none has just left and the others that are ready are for
        dividers."""
        if self.count > 0 or self._filled:
            return cycle + 1
        following = NEVER
        for divider in range(self._dividers if self._dividing > 0 else 0):
            if self._queues.counts[self._units + divider] > 0:
                # It is counted down at the end of a cycle, and looked at before.
                following = min(following, cycle + self._blocked[divider] + 1)
        return following

    def skip(self, cycles: int) -> None:
        """So many cycles go by."""
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
        """Its part of the pipeline's state."""
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
        """Whether the uop that this unit takes in this cycle is one for a divider."""
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
        """With the uop that it took last."""
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
    """Uops that could have another unit never wait for theirs: what a run would take if no binding were a bad
    one. They leave as soon as they are ready, and take no unit from others. Accesses to memory, divisions and
    uops for a single unit leave as ever."""

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
        """Ready uops that leave in this cycle whatever else does."""
        self._unbound_count = 0

    def start(self, most: int) -> None:
        """No uop is ready."""
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
