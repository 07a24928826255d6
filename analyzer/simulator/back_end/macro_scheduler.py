"""Readiness and completion of uops on a core that counts macro-ops; a policy picks among them (M16, M20)."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.uops import Trait
from cyclelens.analyzer.simulator.back_end.picker import Picker
from cyclelens.analyzer.simulator.tables.arrays import Record, ints
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import (
    ELIMINATED,
    EMPTY,
    NONE,
    STORE_ADDRESS,
    STORE_DATA,
    UNKNOWN,
)
from cyclelens.analyzer.simulator.tables.in_flight import InFlight
from cyclelens.analyzer.simulator.tables.operations import Operations

_BLOCKED = 1024
"""Most loads at a time: the schedulers hold no more."""
_RING = 1 << 12
_VECTOR, _FP_ADD, _TAKES_FP_ADD = int(Trait.VECTOR), int(Trait.FP_ADD), int(Trait.TAKES_FP_ADD)
_SETTLED = 64
"""Cycles after which a value that came through a store is ready for every purpose."""
_THERE = 3
"""The same for other operands: an FP sum takes a cycle more for some consumers, and the wasted slots depend
on the cycle before the last operand's."""


class MacroScheduler:
    """Wakes uops, lets the core's picker choose among the ready ones, and completes the chosen ones."""

    def __init__(
        self,
        columns: Columns,
        microarchitecture: Microarchitecture,
        operations: Operations,
        in_flight: InFlight,
        picker: Picker,
    ) -> None:
        rules = microarchitecture.macro_ops
        assert rules is not None
        self._columns = columns
        self._program = columns.program
        self._operations = operations
        self._flight = in_flight
        self._picker = picker
        self._size = microarchitecture.reservation_station_size
        self._delay = microarchitecture.issue_to_dispatch_delay
        self._failed = rules.failed_forwarding
        self._failed_vector = rules.failed_vector_forwarding
        self._ring = ints(_RING)
        self._blocked = ints(_BLOCKED)
        """Loads whose inputs are ready and that wait for a store to be committed."""

    def start(self) -> None:
        """Reset to empty."""
        for slot in range(_RING):
            self._ring[slot] = NONE
        self._blocked_count = 0
        self._picker.start(self._size)

    def tick(self, cycle: int) -> None:
        """Take in the uops dispatched in the cycle before, wake, pick, and complete."""
        self._accept(cycle)
        slot = cycle & (_RING - 1)
        uop = self._ring[slot]
        self._ring[slot] = NONE
        if uop != NONE:
            self._picker.admit(uop)
        if self._blocked_count:
            self._unblock(cycle)
        self._picker.tick(cycle)
        for place in range(self._picker.count):
            self._finish(self._picker.dispatched[place], cycle)

    def waits(self, cycle: int) -> bool:
        """Whether nothing happens in the next cycle without a dispatch, a ready time or a store that
        leaves."""
        return self._picker.next_event(cycle) > cycle + 1

    def next_event(self, cycle: int) -> int:
        """The next cycle in which a uop becomes ready or may leave; NEVER if none is known."""
        following = self._picker.next_event(cycle)
        for ahead in range(1, _RING):
            if self._ring[(cycle + ahead) & (_RING - 1)] != NONE:
                return min(following, cycle + ahead)
        return following

    def record(self, state: Record, first: int, end: int) -> None:
        """Record this part of the pipeline's state, with the uops of the reorder buffer from ``first`` up to
        ``end``."""
        self._picker.record(state)
        columns = self._columns
        for uop in range(first, end):
            if state.differs:
                return
            state.add_time(columns.executed[uop], 0)
            if columns.executed[uop] == UNKNOWN and columns.port[uop] != ELIMINATED:
                static = columns.static[uop]
                if self._program.u_kind[static] != EMPTY:
                    self._record_waiting(state, uop, static)

    def _record_waiting(self, state: Record, uop: int, static: int) -> None:
        columns = self._columns
        flight = self._flight
        slot = uop & flight.uop_mask
        ready = columns.ready[uop]
        first = columns.first_input[uop]
        state.add_time(ready, 0)
        state.add_time(columns.issued[uop], self._delay + self._picker.asks_issued + 1)
        state.add(flight.u_scheduler[slot])
        state.add(flight.u_units[slot])
        state.add(flight.u_slots[slot])
        waste = flight.u_waste[slot]
        state.add(waste)
        if columns.blocked[uop]:
            state.add(columns.store[uop] - columns.stores)
            flight.record_time(state, columns.store_left[columns.store[uop]])
        if ready != UNKNOWN:
            if waste:
                state.add(columns.value_ready[flight.u_waste_value[slot]] + 1 >= ready)
            return
        if flight.u_inputs[slot] > self._program.u_in_count[static]:
            state.add(flight.u_after_address[slot])
            state.add(flight.u_after_data[slot])
        forwarded = first + self._program.u_in_count[static]
        for position in range(first, first + flight.u_inputs[slot]):
            value = columns.input_value[position]
            columns.record_value(state, value, _THERE if position < forwarded else _SETTLED)
            producer = columns.value_uop[value]
            state.add(producer != NONE and self._operations.t_traits[columns.static[producer]] & _FP_ADD != 0)
            if waste and value == flight.u_waste_value[slot]:
                state.add(position - first)

    def _accept(self, cycle: int) -> None:
        fresh = self._flight.fresh
        for position in range(fresh.count):
            self._become_ready(fresh.firsts[position], cycle, cycle)
        fresh.clear()

    def _become_ready(self, uop: int, cycle: int, ready: int) -> None:
        """Fix when a uop whose inputs are all known can be picked, not before the cycle ``ready``."""
        columns = self._columns
        flight = self._flight
        slot = uop & flight.uop_mask
        static = columns.static[uop]
        own = self._program.u_in_count[static]
        first = columns.first_input[uop]
        last = NONE
        allowed = columns.issued[uop] + self._delay
        ready = max(ready, allowed)
        takes_adds = self._operations.t_traits[static] & _TAKES_FP_ADD
        for place in range(flight.u_inputs[slot]):
            value = columns.input_value[first + place]
            there = columns.value_ready[value]
            if place < own:
                there -= self._operations.late[self._program.u_in0[static] + place]
            elif place == own:
                there += flight.u_after_address[slot]
            else:
                there += flight.u_after_data[slot]
            producer = columns.value_uop[value]
            adds: bool = (
                producer != NONE and self._operations.t_traits[columns.static[producer]] & _FP_ADD != 0
            )
            if adds and not takes_adds:
                there += 1
            if there > ready or (there == ready and columns.younger(first + place, last)):
                ready = there
                last = first + place
        columns.ready[uop] = ready
        if columns.watched:
            columns.allowed[uop] = allowed
            columns.last_input[uop] = last
            columns.inputs_ready[uop] = ready
        if columns.blocked[uop]:
            self._blocked[self._blocked_count] = uop
            self._blocked_count += 1
            return
        self._schedule(uop, ready, cycle)

    def _schedule(self, uop: int, ready: int, cycle: int) -> None:
        if ready <= cycle:
            self._columns.next_uop[uop] = NONE
            self._picker.admit(uop)
            return
        # No normal wait is as long as the ring; a longer one goes round again.
        slot = min(ready, cycle + _RING - 1) & (_RING - 1)
        self._columns.next_uop[uop] = self._ring[slot]
        self._ring[slot] = uop

    def _unblock(self, cycle: int) -> None:
        columns = self._columns
        kept = 0
        for position in range(self._blocked_count):
            uop = self._blocked[position]
            left = columns.store_left[columns.store[uop]]
            if left == UNKNOWN:
                self._blocked[kept] = uop
                kept += 1
                continue
            vector = self._operations.t_traits[columns.static[uop]] & _VECTOR
            ready = left + (self._failed_vector if vector else self._failed)
            if ready > columns.ready[uop]:
                columns.ready[uop] = ready
                columns.late_by[uop] = columns.store_last[columns.store[uop]]
            else:
                ready = columns.ready[uop]
            self._schedule(uop, ready, cycle)
        self._blocked_count = kept

    def _finish(self, uop: int, cycle: int) -> None:
        """Fix the ready times of a uop's results, and wake the uops that wait for them."""
        columns = self._columns
        program = self._program
        static = columns.static[uop]
        executed = cycle + 1
        kind = program.u_kind[static]
        if kind == STORE_ADDRESS:
            store = columns.store[uop]
            columns.store_address[store] = cycle
            columns.store_last[store] = uop
            picked = self._flight.s_picked[store & self._flight.store_mask]
            self._known(picked, cycle, cycle)
        elif kind == STORE_DATA:
            columns.store_data[columns.store[uop]] = cycle
            columns.store_last[columns.store[uop]] = uop
        first = columns.first_result[uop]
        for value in range(first, first + program.u_out_count[static]):
            ready = cycle + columns.value_latency[value]
            if ready > executed:
                executed = ready
            self._known(value, ready, cycle)
        columns.executed[uop] = executed

    def _known(self, value: int, ready: int, cycle: int) -> None:
        columns = self._columns
        columns.value_ready[value] = ready
        position = columns.value_waiters[value]
        while position != NONE:
            waiting = columns.input_uop[position]
            columns.pending[waiting] -= 1
            if columns.pending[waiting] == 0:
                # The picks of this cycle are made.
                self._become_ready(waiting, cycle, cycle + 1)
            position = columns.input_next[position]
