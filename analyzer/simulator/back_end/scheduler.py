"""The schedulers (reservation stations): uops wait for their inputs, then for their unit (uiCA model, 3.11
to 3.13). Event-driven: a waiting uop costs no simulation time."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.simulator.back_end.fences import Fences
from cyclelens.analyzer.simulator.back_end.picker import Picker
from cyclelens.analyzer.simulator.tables.arrays import Record, SequenceQueues, ints
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import (
    FOREVER,
    HELD_BY_DIVIDER,
    HELD_BY_FENCE,
    HELD_BY_UNIT,
    LOAD,
    NONE,
    STORE_ADDRESS,
    STORE_DATA,
    UNKNOWN,
)
from cyclelens.analyzer.simulator.tables.queues import Queues

_MIN_EXECUTION = 2
_ADDRESS_KNOWN = 5
_DATA_KNOWN = 1
_FORWARDING = 4
_HELD, _CANDIDATES, _QUEUES = 0, 1, 2
"""Uops held back by a fence or an occupancy, and those checked in a cycle."""


class Scheduler:
    """Holds uops from issue to dispatch; ``picker`` decides which of the ready ones leave."""

    def __init__(
        self, columns: Columns, microarchitecture: Microarchitecture, queues: Queues, picker: Picker
    ) -> None:
        self._columns = columns
        self._program = columns.program
        self._bound = queues.bound
        self._free = queues.free
        self._picker = picker
        self._size = microarchitecture.reservation_station_size
        self._issue_width = microarchitecture.issue_width
        self._delay = microarchitecture.issue_to_dispatch_delay
        self._failed_forwarding = microarchitecture.failed_forwarding_cycles
        self._late = microarchitecture.late_forwarding_cycles
        self.fences = Fences(columns)
        self._held = SequenceQueues(_QUEUES)
        self._known = ints(0)
        """Waiting uops whose inputs all became known in this cycle."""
        self._rob_size = microarchitecture.reorder_buffer_size
        self._blocked = ints(0)
        """Dispatched loads that wait until a store has left the store buffer."""
        self._ring = ints(0)
        """Future ready times, as linked lists over ``next_uop`` in a ring of cycles."""
        self.tp_blocked = ints(0)

    def start(self) -> None:
        """Reset to empty."""
        program = self._program
        self.fences.start()
        farthest = program.longest_wait + self._delay + _ADDRESS_KNOWN + _FORWARDING + self._failed_forwarding
        size = 64
        while size <= farthest:
            size *= 2
        self._ring_mask = size - 1
        if size > len(self._ring):
            self._ring = ints(size)
        for slot in range(size):
            self._ring[slot] = NONE
        # The last group may overfill it: a fused uop of a microcoded instruction can hold hundreds of uops.
        most = 2 * self._size + self._issue_width * program.most_fused
        self._picker.start(most)
        self._held.start(most)
        self._known_count = 0
        if most > len(self._known):
            self._known = ints(most)
        if program.exact_memory:
            self._blocked = ints(self._rob_size * program.most_fused + most)
        if program.tp_names > len(self.tp_blocked):
            self.tp_blocked = ints(2 * program.tp_names)
        for name in range(program.tp_names):
            self.tp_blocked[name] = 0
        self._blocked_count = 0
        self._ended = False
        """Whether an occupancy ended in the latest cycle."""

    def waits(self, cycle: int) -> bool:
        """Whether nothing but countdowns happens in the next cycle without an issue group or a ready time."""
        return self._picker.next_event(cycle) > cycle + 1

    def next_event(self, cycle: int) -> int:
        """The next cycle in which a uop becomes ready or may leave, or a fence or an occupancy may end;
        NEVER if none is known."""
        following = self._picker.next_event(cycle)
        if self._program.has_special:
            following = min(following, self._next_special(cycle))
        for ahead in range(1, self._ring_mask + 1):
            if self._ring[(cycle + ahead) & self._ring_mask] != NONE:
                return min(following, cycle + ahead)
        return following

    def _next_special(self, cycle: int) -> int:
        following = self.fences.next_event(cycle)
        if self._held.counts[_HELD] > 0:
            if self._ended:
                return cycle + 1
            for name in range(self._program.tp_names):
                if self.tp_blocked[name] > 0:
                    # The counter is decremented at the end of a cycle and read before that.
                    following = min(following, cycle + self.tp_blocked[name] + 1)
        return following

    def skip(self, cycles: int) -> None:
        """Skip this many cycles, in which nothing happens."""
        self._picker.skip(cycles)
        for name in range(self._program.tp_names):
            self.tp_blocked[name] = max(0, self.tp_blocked[name] - cycles)

    def wake(self, cycle: int) -> None:
        """Step 1: uops whose ready time has come may leave."""
        slot = cycle & self._ring_mask
        first = self._ring[slot]
        if first != NONE:
            self._ring[slot] = NONE
            self._picker.admit(first)

    def tick(self, cycle: int) -> None:
        """Steps 3 to 7, after the issue group has been bound to units."""
        if self._program.has_special:
            for position in range(self._bound.count):
                self.fences.bound(self._bound.firsts[position])
        self._picker.tick(cycle)
        self._finish_dispatched(cycle)
        if not self._program.has_special:
            for position in range(self._free.count):
                self._fix(self._free.firsts[position], cycle)
            for position in range(self._known_count):
                self._fix(self._known[position], cycle)
            self._known_count = 0
        else:
            self._check_special(cycle)
            self.fences.tick(cycle)
            self._ended = False
            for name in range(self._program.tp_names):
                if self.tp_blocked[name]:
                    self.tp_blocked[name] -= 1
                    if self.tp_blocked[name] == 0:
                        self._ended = True

    def record(self, state: Record) -> None:
        """Record this part of the pipeline's state; the reorder buffer records the uops themselves."""
        self._picker.record(state)
        for name in range(self._program.tp_names):
            state.add(self.tp_blocked[name])
        if self._program.has_fences:
            self.fences.loads.record(state)
            self.fences.stores.record(state)

    def _finish_dispatched(self, cycle: int) -> None:
        """Step 4: fix the times of results. Stores first: a load may forward from them (3.11.2)."""
        picker = self._picker
        columns = self._columns
        program = self._program
        for position in range(picker.count if columns.stores > 0 else 0):
            uop = picker.dispatched[position]
            kind = program.u_kind[columns.static[uop]]
            if kind == STORE_ADDRESS:
                self._finish(uop, cycle, cycle + _ADDRESS_KNOWN)
                store = columns.store[uop]
                columns.store_address[store] = cycle + _ADDRESS_KNOWN
                if columns.store_address[store] > columns.store_data[store]:
                    columns.store_last[store] = uop
            elif kind == STORE_DATA:
                self._finish(uop, cycle, cycle + _DATA_KNOWN)
                known = cycle + _DATA_KNOWN
                store = columns.store[uop]
                if self._late:
                    known += columns.store_late[store] * self._late
                columns.store_data[store] = known
                if known >= columns.store_address[store]:
                    columns.store_last[store] = uop
        for position in range(picker.count):
            uop = picker.dispatched[position]
            static = columns.static[uop]
            store = columns.store[uop]
            earliest = 0
            if store == NONE:
                if program.u_kind[static] != LOAD and not program.has_special:
                    self._finish_computation(uop, static, cycle)
                    continue
            else:
                if program.u_kind[static] != LOAD:
                    self._forward(store)
                    continue
                if columns.blocked[uop]:
                    self._blocked[self._blocked_count] = uop
                    self._blocked_count += 1
                    continue
                if not self._store_known(store):
                    columns.next_uop[uop] = columns.store_waiters[store]
                    columns.store_waiters[store] = uop
                    continue
                earliest = self._forwarded(store)
            self._finish(uop, cycle, earliest)
        if self._blocked_count > 0:
            self._unblock()

    def _unblock(self) -> None:
        """Loads that could not forward get their results from the cache once it has the store's data."""
        columns = self._columns
        kept = 0
        for position in range(self._blocked_count):
            uop = self._blocked[position]
            left = columns.store_left[columns.store[uop]]
            if left == UNKNOWN:
                self._blocked[kept] = uop
                kept += 1
            else:
                self._finish(uop, columns.dispatched[uop], left + self._failed_forwarding)
        self._blocked_count = kept

    def _store_known(self, store: int) -> bool:
        columns = self._columns
        return columns.store_address[store] != UNKNOWN and columns.store_data[store] != UNKNOWN

    def _forwarded(self, store: int) -> int:
        columns = self._columns
        return max(columns.store_address[store], columns.store_data[store]) + _FORWARDING

    def _forward(self, store: int) -> None:
        """Loads that wait for a store's address and data get their results."""
        columns = self._columns
        uop = columns.store_waiters[store]
        if uop == NONE or not self._store_known(store):
            return
        columns.store_waiters[store] = NONE
        while uop != NONE:
            following = columns.next_uop[uop]
            self._finish(uop, columns.dispatched[uop], self._forwarded(store))
            uop = following

    def _finish(self, uop: int, dispatched: int, earliest: int) -> None:
        """Fix the ready times of a dispatched uop's results and its completion. Neither the results of a
        load nor the completion of a store can be before ``earliest``."""
        columns = self._columns
        program = self._program
        static = columns.static[uop]
        executed = dispatched + _MIN_EXECUTION
        bonus = 0
        loads: bool = program.u_kind[static] == LOAD
        if loads:
            bonus = columns.latency_bonus[uop]
            columns.late_by[uop] = NONE
        elif earliest > executed:
            executed = earliest
        if program.has_special and program.u_first[static]:
            executed = max(executed, dispatched + program.i_tp[columns.position[uop]])
        first = columns.first_result[uop]
        for value in range(first, first + program.u_out_count[static]):
            ready = dispatched + columns.value_latency[value] - bonus
            if loads and ready < earliest:
                ready = earliest
                columns.late_by[uop] = columns.store_last[columns.store[uop]]
            self._announce(value, ready)
            if ready > executed:
                executed = ready
        columns.executed[uop] = executed

    def _finish_computation(self, uop: int, static: int, cycle: int) -> None:
        """Fix the same times for a uop that is dispatched now and neither loads nor stores."""
        columns = self._columns
        executed = cycle + _MIN_EXECUTION
        first = columns.first_result[uop]
        for value in range(first, first + self._program.u_out_count[static]):
            ready = cycle + columns.value_latency[value]
            self._announce(value, ready)
            if ready > executed:
                executed = ready
        columns.executed[uop] = executed

    def _announce(self, value: int, ready: int) -> None:
        """The ready time of a result is known: tell the uops that wait for it."""
        columns = self._columns
        columns.value_ready[value] = ready
        position = columns.value_waiters[value]
        while position != NONE:
            waiting = columns.input_uop[position]
            if ready > columns.latest[waiting]:
                columns.latest[waiting] = ready
            pending = columns.pending[waiting] - 1
            columns.pending[waiting] = pending
            if pending == 0:
                self._known[self._known_count] = waiting
                self._known_count += 1
            position = columns.input_next[position]

    def _check_special(self, cycle: int) -> None:
        """Step 5 if fences or occupancies may hold uops back: oldest first."""
        columns = self._columns
        program = self._program
        queues = self._held
        while queues.counts[_HELD] > 0:
            queues.push(_CANDIDATES, queues.pop(_HELD))
        for position in range(self._free.count):
            queues.push(_CANDIDATES, self._free.firsts[position])
        for position in range(self._known_count):
            queues.push(_CANDIDATES, self._known[position])
        self._known_count = 0
        while queues.counts[_CANDIDATES] > 0:
            uop = queues.pop(_CANDIDATES)
            i = columns.position[uop]
            limited: bool = program.i_tp[i] > 0 and program.u_first[columns.static[uop]] != 0
            blocked: bool = limited and self.tp_blocked[program.i_tp_name[i]] > 0
            if blocked or not self.fences.allow(uop, cycle):
                columns.held[uop] = self._occupied(i) if blocked else HELD_BY_FENCE
                queues.push(_HELD, uop)
                continue
            if limited:
                self.tp_blocked[program.i_tp_name[i]] = program.i_tp[i]
            self.fences.fixed(uop)
            self._fix(uop, cycle)

    def _occupied(self, i: int) -> int:
        """Cycles for which the previous instance of the instruction still occupies its unit."""
        first = self._program.i_uop0[i]
        for static in range(first, first + self._program.i_uop_count[i]):
            if self._program.u_divider[static]:
                return HELD_BY_DIVIDER
        return HELD_BY_UNIT

    def _fix(self, uop: int, cycle: int) -> None:
        """Fix the ready time of a uop whose inputs are all known (3.11.4)."""
        columns = self._columns
        latest = columns.latest[uop]
        earliest = columns.issued[uop] + self._delay
        ready = latest
        if latest < earliest:
            ready = earliest
        elif latest <= earliest + 1:
            # An input that arrives in the very cycle in which the uop could leave costs one cycle.
            ready = latest + 1
        if columns.watched:
            columns.allowed[uop] = earliest
            columns.inputs_ready[uop] = ready
            columns.last_input[uop] = self._last_input(uop, latest)
        if ready <= cycle:
            ready = cycle + 1
        columns.ready[uop] = ready
        slot = ready & self._ring_mask
        columns.next_uop[uop] = self._ring[slot]
        self._ring[slot] = uop

    def _last_input(self, uop: int, latest: int) -> int:
        """The input that came in this cycle, NONE if the uop waited for none."""
        columns = self._columns
        last = NONE
        first = columns.first_input[uop]
        for position in range(first, first + self._program.u_in_count[columns.static[uop]]):
            known = columns.value_ready[columns.input_value[position]]
            if known == latest and known > FOREVER and columns.younger(position, last):
                last = position
        return last
