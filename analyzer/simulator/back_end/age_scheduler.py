"""Schedulers that pick the oldest ready uop for any unit that is free: integer, address and vector ones
(M9, M11, M14 to M16, M20)."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.units import Role
from cyclelens.analyzer.model.uops import Trait
from cyclelens.analyzer.simulator.tables.arrays import Record, ints
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import (
    ELIMINATED,
    EMPTY,
    LOAD,
    NONE,
    QUEUED_FOR_DIVIDER,
    QUEUED_FOR_PORT,
    STORE_ADDRESS,
    STORE_DATA,
    UNKNOWN,
)
from cyclelens.analyzer.simulator.tables.in_flight import InFlight
from cyclelens.analyzer.simulator.tables.operations import Operations

_INTEGER, _ADDRESS, _VECTOR = 0, 1, 2
"""Kinds of uops: for ALUs and branch units, for address units, and for all others."""
_ROOM = 1024
"""Ready uops of a kind: the schedulers hold no more."""
_RING = 1 << 12
_VECTOR_TRAIT, _WIDE, _FP_ADD, _TAKES_FP_ADD, _MASK_TRAIT, _ALONE, _DIVIDES = (
    int(Trait.VECTOR),
    int(Trait.WIDE),
    int(Trait.FP_ADD),
    int(Trait.TAKES_FP_ADD),
    int(Trait.MASK),
    int(Trait.ALONE),
    int(Trait.DIVIDES),
)
_EIGHTHS = 8
_SETTLED = 64


class AgeScheduler:
    """Readiness, picking and completion of uops."""

    def __init__(
        self,
        columns: Columns,
        microarchitecture: Microarchitecture,
        operations: Operations,
        in_flight: InFlight,
    ) -> None:
        rules = microarchitecture.macro_ops
        assert rules is not None
        self._columns = columns
        self._program = columns.program
        self._operations = operations
        self._flight = in_flight
        units = microarchitecture.units
        self._units = len(units)
        self._delay = microarchitecture.issue_to_dispatch_delay
        self._integer_units: int = units.having(Role.ALU).mask | units.having(Role.BRANCH).mask
        self._special = (
            units.having(Role.BRANCH).mask | units.having(Role.MULTIPLY).mask | units.having(Role.SHIFT).mask
        )
        self._address_mask: int = units.having(Role.LOAD).mask | units.having(Role.STORE_ADDRESS).mask
        self._vector_mask: int = 0
        for role in (Role.VECTOR, Role.TRANSFER, Role.FROM_INTEGER):
            self._vector_mask |= units.having(role).mask
        self._pipes = ints(len(rules.pipes))
        """By number, in the order in which they are taken."""
        for place, name in enumerate(rules.pipes):
            self._pipes[place] = units.names.index(name)
        self._integer_count: int = self._integer_units.bit_count()
        self._loads = rules.loads_per_cycle
        self._vector_loads = rules.vector_loads_per_cycle
        self._mixed = rules.mixed_memory_ops_per_cycle
        self._stores = rules.stores_per_cycle
        self._address_units = rules.memory_ops_per_cycle
        self._failed = rules.failed_forwarding
        self._failed_vector = rules.failed_vector_forwarding
        self._mask_operations = rules.mask_operations_per_cycle
        self._pickable = rules.vector_pickable
        self._address_cycles = 0 if rules.wasted is None else rules.wasted.address_cycles
        self._ready = ints(3 * _ROOM)
        """Ready uops of each scheduler, oldest first."""
        self._counts = ints(3)
        self._ring = ints(_RING)
        self._blocked = ints(_ROOM)
        """Loads whose inputs are there, and that wait for a store to be committed."""
        self._latest = ints(len(units))
        """The uop that each unit took last."""
        self.busy = ints(len(units))
        """Cycle from which each unit is free again."""

    def start(self) -> None:
        """Empty."""
        for scheduler in range(3):
            self._counts[scheduler] = 0
        for slot in range(_RING):
            self._ring[slot] = NONE
        for unit in range(self._units):
            self.busy[unit] = 0
            self._latest[unit] = NONE
        self._blocked_count = 0
        self._admitted = 0
        """Vector uops in their schedulers; the others queue in front of them."""
        self._last_admitted = NONE
        self._divider_free = 0
        self._alone_free = 0
        self._integer_debt = 0
        """Eighths of slots that past picks have wasted."""
        self._address_debt = 0

    def tick(self, cycle: int) -> None:
        """Take in what was dispatched in the cycle before, wake, and pick."""
        self._accept(cycle)
        slot = cycle & (_RING - 1)
        uop = self._ring[slot]
        self._ring[slot] = NONE
        while uop != NONE:
            following = self._columns.next_uop[uop]
            self._insert(uop)
            uop = following
        if self._blocked_count:
            self._unblock(cycle)
        self._pick_integer(cycle)
        self._pick_addresses(cycle)
        self._pick_vectors(cycle)

    def record(self, state: Record, first: int, end: int) -> None:
        """Its part of the pipeline's state, with the uops of the reorder buffer: ``first`` up to ``end``."""
        state.add(self._integer_debt)
        state.add(self._address_debt)
        state.add_time(self._divider_free, 0)
        state.add_time(self._alone_free, 0)
        for unit in range(self._units):
            state.add_time(self.busy[unit], 0)
        # Older uops than the first have left.
        state.add(max(self._last_admitted, first - 1) - state.uop)
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
        state.add_time(columns.issued[uop], _SETTLED)
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
        for position in range(first, first + flight.u_inputs[slot]):
            value = columns.input_value[position]
            columns.record_value(state, value, _SETTLED)
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
        """All inputs are known: when, from the cycle ``ready`` on, can it be picked?"""
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
            adds = producer != NONE and self._operations.t_traits[columns.static[producer]] & _FP_ADD
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
            self._insert(uop)
            return
        # Nothing takes as long as the ring is; a wait that does goes round it.
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
            vector = self._operations.t_traits[columns.static[uop]] & _VECTOR_TRAIT
            ready = left + (self._failed_vector if vector else self._failed)
            if ready > columns.ready[uop]:
                columns.ready[uop] = ready
                columns.late_by[uop] = columns.store_last[columns.store[uop]]
            else:
                ready = columns.ready[uop]
            self._schedule(uop, ready, cycle)
        self._blocked_count = kept

    def _insert(self, uop: int) -> None:
        """Into the ready uops of its scheduler, in its place."""
        static = self._columns.static[uop]
        kind = self._program.u_kind[static]
        scheduler = _VECTOR
        if kind == LOAD or kind == STORE_ADDRESS:  # noqa: SIM109 - a tuple would be made each time
            scheduler = _ADDRESS
        elif self._program.u_port_mask[static] & self._integer_units:
            scheduler = _INTEGER
        base = scheduler * _ROOM
        place = self._counts[scheduler]
        while place > 0 and self._ready[base + place - 1] > uop:
            self._ready[base + place] = self._ready[base + place - 1]
            place -= 1
        self._ready[base + place] = uop
        self._counts[scheduler] += 1

    def _pick_integer(self, cycle: int) -> None:
        columns = self._columns
        flight = self._flight
        program = self._program
        slots = self._integer_count - self._integer_debt // _EIGHTHS
        self._integer_debt %= _EIGHTHS
        if slots < 0:
            self._integer_debt -= _EIGHTHS * slots
            slots = 0
        free = self._integer_units
        kept = 0
        for position in range(self._counts[_INTEGER]):
            uop = self._ready[position]
            static = columns.static[uop]
            traits = self._operations.t_traits[static]
            slot = uop & flight.uop_mask
            mask = flight.u_units[slot] & free
            if (traits & _ALONE and self._alone_free > cycle) or (
                traits & _DIVIDES and self._divider_free > cycle
            ):
                mask = 0
            if slots <= 0 or mask == 0:
                self._ready[kept] = uop
                kept += 1
                continue
            unit = self._choose(mask)
            free &= ~(1 << unit)
            slots -= 1
            if traits & _ALONE:
                self._alone_free = cycle + program.u_divider[static]
            if traits & _DIVIDES:
                self._divider_free = cycle + program.u_divider[static]
            if (
                flight.u_waste[slot]
                and columns.value_ready[flight.u_waste_value[slot]] + 1 >= columns.ready[uop]
            ):
                self._integer_debt += flight.u_waste[slot]
            self._finish(uop, static, unit, cycle)
        self._counts[_INTEGER] = kept

    def _choose(self, mask: int) -> int:
        """Units that nothing else needs come first, then the highest."""
        plain = mask & ~self._special
        if plain:
            mask = plain & -plain
        unit = self._units - 1
        while not mask >> unit & 1:
            unit -= 1
        return unit

    def _pick_addresses(self, cycle: int) -> None:
        columns = self._columns
        flight = self._flight
        used = loads = vectors = integers = stores = others = 0
        free = self._address_mask
        while self._address_debt >= _EIGHTHS and used < self._address_units:
            self._address_debt -= _EIGHTHS
            used += 1
            loads += 1
        kept = 0
        base = _ADDRESS * _ROOM
        for position in range(self._counts[_ADDRESS]):
            uop = self._ready[base + position]
            static = columns.static[uop]
            traits = self._operations.t_traits[static]
            slot = uop & flight.uop_mask
            cost = flight.u_slots[slot]
            taken = False
            mask = flight.u_units[slot] & free
            loads_vector: bool = traits & _VECTOR_TRAIT != 0 and self._program.u_kind[static] == LOAD
            most = self._address_units
            if others if loads_vector else vectors:
                most = self._mixed
            if used >= most or mask == 0:
                taken = False
            elif self._program.u_kind[static] == LOAD:
                wanted = cost
                if traits & _WIDE:
                    wanted = 3 if (loads > 0 and vectors == 0) or integers > 0 else 2
                fits = loads + wanted <= self._loads and used + wanted <= most
                if loads_vector and vectors + cost > self._vector_loads:
                    fits = False
                if fits:
                    taken = True
                    loads += wanted
                    used += wanted
                    if loads_vector:
                        vectors += cost
                    else:
                        integers += 1
                    if flight.u_waste[slot] and self._wastes_address(uop, cycle):
                        self._address_debt += flight.u_waste[slot]
                    self._address_debt += flight.u_harness[slot]
            elif stores < self._stores and not (traits & _ALONE and self._alone_free > cycle):
                taken = True
                stores += 1
                used += 1
                if traits & _ALONE:
                    self._alone_free = cycle + self._program.u_divider[static]
            if taken:
                unit = self._lowest(mask)
                free &= ~(1 << unit)
                others += not loads_vector
                self._finish(uop, static, unit, cycle)
            else:
                self._ready[base + kept] = uop
                kept += 1
        self._counts[_ADDRESS] = kept

    def _wastes_address(self, uop: int, cycle: int) -> bool:
        """In long loops out of the op cache only what is picked soon."""
        if self._flight.decoded or self._flight.small_loop:
            return True
        return cycle - self._columns.issued[uop] - self._delay <= self._address_cycles

    def _pick_vectors(self, cycle: int) -> None:
        columns = self._columns
        flight = self._flight
        program = self._program
        free = 0
        for unit in range(self._units):
            if self.busy[unit] <= cycle:
                free |= 1 << unit
        while flight.vectors.count > 0 and self._admitted < self._pickable:
            self._last_admitted = flight.vectors.firsts[flight.vectors.head]
            flight.vectors.pop()
            self._admitted += 1
        masks = kept = 0
        base = _VECTOR * _ROOM
        for position in range(self._counts[_VECTOR]):
            uop = self._ready[base + position]
            static = columns.static[uop]
            traits = self._operations.t_traits[static]
            mask = flight.u_units[uop & flight.uop_mask] & free
            if (
                mask == 0
                or (traits & _MASK_TRAIT and masks >= self._mask_operations)
                or (uop > self._last_admitted and mask & self._vector_mask)
            ):
                self._ready[base + kept] = uop
                kept += 1
                continue
            unit = self._choose_pipe(mask)
            free &= ~(1 << unit)
            if traits & _MASK_TRAIT:
                masks += 1
            if program.u_divider[static] > 1:
                self.busy[unit] = cycle + program.u_divider[static]
            if mask & self._vector_mask:
                self._admitted -= 1
            self._finish(uop, static, unit, cycle)
        self._counts[_VECTOR] = kept

    def _choose_pipe(self, mask: int) -> int:
        for place in range(len(self._pipes)):
            if mask >> self._pipes[place] & 1:
                return self._pipes[place]
        return self._lowest(mask)

    def _lowest(self, mask: int) -> int:
        unit = 0
        while not mask >> unit & 1:
            unit += 1
        return unit

    def _finish(self, uop: int, static: int, unit: int, cycle: int) -> None:
        """Fix the times of results, and of those that wait for them."""
        columns = self._columns
        program = self._program
        before = self._latest[unit]
        if columns.ready[uop] < cycle:
            # Not every cycle that is lost has a uop in it: picks waste slots (M14).
            taken: bool = before != NONE and columns.dispatched[before] == cycle - 1
            queued = QUEUED_FOR_DIVIDER if program.u_divider[static] > 1 else QUEUED_FOR_PORT
            columns.queue(uop, queued, before if taken else NONE)
        self._latest[unit] = uop
        columns.port[uop] = unit
        flight = self._flight
        scheduler = flight.u_scheduler[uop & flight.uop_mask]
        flight.waiting[scheduler] -= 1
        columns.dispatched[uop] = cycle
        executed = cycle + 1
        kind = program.u_kind[static]
        if kind == LOAD or kind == STORE_ADDRESS:  # noqa: SIM109 - a tuple would be made each time
            flight.addresses[scheduler] -= 1
        if kind == STORE_ADDRESS:
            store = columns.store[uop]
            columns.store_address[store] = cycle
            columns.store_last[store] = uop
            picked = flight.s_picked[store & flight.store_mask]
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
                # The picks of this cycle are being made.
                self._become_ready(waiting, cycle, cycle + 1)
            position = columns.input_next[position]
