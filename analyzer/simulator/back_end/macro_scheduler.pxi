# Readiness and completion of uops on a core that counts macro-ops; a policy picks among them (M16, M20).

cdef enum:
    _BLOCKED = 1024  # Most loads at a time: the schedulers hold no more.
    _RING = 1 << 12
    _SETTLED_STORES = 64  # Cycles after which a value that came through a store is ready for every purpose.
    # The same for other operands: an FP sum takes a cycle more for some consumers, and the wasted
    # slots depend on the cycle before the last operand's.
    _THERE = 3


@cython.final
cdef class MacroScheduler:
    """Wakes uops, lets the core's picker choose among the ready ones, and completes the chosen ones."""

    cdef Tables tables
    cdef Program program
    cdef Operations operations
    cdef InFlight flight
    cdef Picker _picker
    cdef int _size
    cdef int _delay
    cdef int _failed
    cdef int _failed_vector
    cdef int _failed_narrow
    cdef int _domain_cycles
    cdef int[::1] _ring
    cdef int[::1] _blocked  # Loads whose inputs are ready and that wait for a store to be committed.
    cdef int _blocked_count

    def __init__(
        self, Tables tables, microarchitecture, Operations operations, InFlight in_flight, Picker picker
    ):
        rules = microarchitecture.macro_ops
        assert rules is not None
        self.tables = tables
        self.program = tables.program
        self.operations = operations
        self.flight = in_flight
        self._picker = picker
        self._size = microarchitecture.reservation_station_size
        self._delay = microarchitecture.issue_to_dispatch_delay
        self._failed = rules.failed_forwarding
        self._failed_vector = rules.failed_vector_forwarding
        self._failed_narrow = rules.failed_narrow_forwarding
        self._domain_cycles = rules.domain_cycles
        self._ring = ints(_RING)
        self._blocked = ints(_BLOCKED)

    cdef int start(self) except -1:
        """Reset to empty."""
        for slot in range(_RING):
            self._ring[slot] = NONE
        self._blocked_count = 0
        self._picker.start(self._size)

    cdef void tick(self, int cycle) noexcept nogil:
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

    cdef bint waits(self, int cycle) noexcept nogil:
        """Whether nothing happens in the next cycle without a dispatch, a ready time or a store that
        leaves."""
        return self._picker.next_event(cycle) > cycle + 1

    cdef int next_event(self, int cycle) noexcept nogil:
        """The next cycle in which a uop becomes ready or may leave; NEVER if none is known."""
        following = self._picker.next_event(cycle)
        for ahead in range(1, _RING):
            if self._ring[(cycle + ahead) & (_RING - 1)] != NONE:
                return min(following, cycle + ahead)
        return following

    cdef int record(self, Record state, int first, int end) except -1 nogil:
        """Record this part of the pipeline's state, with the uops of the reorder buffer from ``first`` up to
        ``end``."""
        cdef Uop *uop
        self._picker.record(state)
        for number in range(first, end):
            uop = &self.tables.uop[number]
            if state.differs:
                return 0
            state.add_time(uop.executed, 0)
            if uop.executed == UNKNOWN and uop.port != ELIMINATED:
                static = uop.static
                if self.program.uop[static].kind != EMPTY:
                    self._record_waiting(state, number, static)

    cdef int _record_waiting(self, Record state, int number, int static) except -1 nogil:
        cdef Uop *uop = &self.tables.uop[number]
        cdef BlockUop *block_uop = &self.program.uop[static]
        slot = number & self.flight.uop_mask
        ready = uop.ready
        first = uop.first_input
        state.add_time(ready, 0)
        state.add_time(uop.issued, self._delay + self._picker.asks_issued + 1)
        state.add(self.flight.u_scheduler[slot])
        state.add(self.flight.u_units[slot])
        state.add(self.flight.u_slots[slot])
        state.add(self.flight.u_receives[slot])
        waste = self.flight.u_waste[slot]
        state.add(waste)
        if uop.blocked:
            state.add(uop.store - self.tables.stores)
            self.flight.record_time(state, self.tables.store[uop.store].left)
        if ready != UNKNOWN:
            if waste:
                state.add(self.tables.value[self.flight.u_waste_value[slot]].ready + 1 >= ready)
            return 0
        if self.flight.u_inputs[slot] > block_uop.in_count:
            state.add(self.flight.u_after_address[slot])
            state.add(self.flight.u_after_data[slot])
        forwarded = first + block_uop.in_count
        for position in range(first, first + self.flight.u_inputs[slot]):
            value = self.tables.input[position].value
            self.tables.record_value(state, value, _THERE if position < forwarded else _SETTLED_STORES)
            producer = self.tables.value[value].uop
            state.add(self._made(producer))
            if waste and value == self.flight.u_waste_value[slot]:
                state.add(position - first)

    cdef int _made(self, int producer) noexcept nogil:
        """The traits of a value's producer on which its consumers depend."""
        if producer == NONE:
            return 0
        return self.operations.t_traits[self.tables.uop[producer].static] & (
            FP_ADD_TRAIT | MAKES_FP_TRAIT | MAKES_INTEGERS_TRAIT
        )

    cdef void _accept(self, int cycle) noexcept nogil:
        for position in range(self.flight.fresh.count):
            self._become_ready(self.flight.fresh.firsts[position], cycle, cycle)
        self.flight.fresh.clear()

    cdef void _become_ready(self, int number, int cycle, int ready) noexcept nogil:
        """Fix when a uop whose inputs are all known can be picked, not before the cycle ``ready``."""
        cdef Uop *uop = &self.tables.uop[number]
        cdef Value *value
        cdef BlockUop *block_uop
        slot = number & self.flight.uop_mask
        static = uop.static
        block_uop = &self.program.uop[static]
        own = block_uop.in_count
        first = uop.first_input
        last = NONE
        allowed = uop.issued + self._delay
        ready = max(ready, allowed)
        traits = self.operations.t_traits[static]
        other_domain = 0
        if traits & IN_FP_TRAIT:
            other_domain = MAKES_INTEGERS_TRAIT
        elif traits & IN_INTEGERS_TRAIT:
            other_domain = MAKES_FP_TRAIT
        for place in range(self.flight.u_inputs[slot]):
            row = self.tables.input[first + place].value
            value = &self.tables.value[row]
            there = value.ready
            if place < own:
                there -= self.operations.late[block_uop.in0 + place]
            elif place == own:
                there += self.flight.u_after_address[slot]
            else:
                there += self.flight.u_after_data[slot]
            made = self._made(value.uop)
            if made & FP_ADD_TRAIT and not traits & TAKES_FP_ADD_TRAIT:
                there += 1
            if made & other_domain and place < own:
                there += self._domain_cycles
            if there > ready or (there == ready and self.tables.younger(first + place, last)):
                ready = there
                last = first + place
        uop.ready = ready
        if self.tables.watched:
            uop.allowed = allowed
            uop.last_input = last
            uop.inputs_ready = ready
        if uop.blocked:
            self._blocked[self._blocked_count] = number
            self._blocked_count += 1
            return
        self._schedule(number, ready, cycle)

    cdef void _schedule(self, int number, int ready, int cycle) noexcept nogil:
        cdef Uop *uop = &self.tables.uop[number]
        if ready <= cycle:
            uop.next_uop = NONE
            self._picker.admit(number)
            return
        # No normal wait is as long as the ring; a longer one goes round again.
        slot = min(ready, cycle + _RING - 1) & (_RING - 1)
        uop.next_uop = self._ring[slot]
        self._ring[slot] = number

    cdef void _unblock(self, int cycle) noexcept nogil:
        cdef Uop *uop
        kept = 0
        for position in range(self._blocked_count):
            number = self._blocked[position]
            uop = &self.tables.uop[number]
            left = self.tables.store[uop.store].left
            if left == UNKNOWN:
                self._blocked[kept] = number
                kept += 1
                continue
            vector = self.operations.t_traits[uop.static] & VECTOR_TRAIT
            failed = self._failed_vector if vector else self._failed
            if not vector and self.tables.store[uop.store].bytes < MERGED:
                failed = self._failed_narrow
            ready = left + failed
            if ready > uop.ready:
                uop.ready = ready
                uop.late_by = self.tables.store[uop.store].last
            else:
                ready = uop.ready
            self._schedule(number, ready, cycle)
        self._blocked_count = kept

    cdef void _finish(self, int number, int cycle) noexcept nogil:
        """Fix the ready times of a uop's results, and wake the uops that wait for them."""
        cdef Uop *uop = &self.tables.uop[number]
        cdef StoreEntry *store
        cdef BlockUop *block_uop
        static = uop.static
        block_uop = &self.program.uop[static]
        executed = cycle + 1
        kind = block_uop.kind
        if kind == LOAD and self.flight.u_receives[number & self.flight.uop_mask] > 1:
            self.flight.forwarding -= 1
        if kind == STORE_ADDRESS:
            place = uop.store
            store = &self.tables.store[place]
            store.address = cycle
            store.last = number
            picked = self.flight.s_picked[place & self.flight.store_mask]
            self._known(picked, cycle, cycle)
        elif kind == STORE_DATA:
            self.tables.store[uop.store].data = cycle
            self.tables.store[uop.store].last = number
        first = uop.first_result
        for value in range(first, first + block_uop.out_count):
            ready = cycle + self.tables.value[value].latency
            if ready > executed:
                executed = ready
            self._known(value, ready, cycle)
        uop.executed = executed
        if self.operations.t_traits[static] & SHARES_ADDRESS_TRAIT:
            self._finish_address(number + 1, cycle)

    cdef void _finish_address(self, int number, int cycle) noexcept nogil:
        """The first store among the uops from ``number`` on has the address of the load before it (M43)."""
        while self.program.uop[self.tables.uop[number].static].kind != STORE_ADDRESS:
            number += 1
        self.tables.uop[number].ready = self.tables.uop[number].dispatched = cycle
        self._finish(number, cycle)

    cdef void _known(self, int row, int ready, int cycle) noexcept nogil:
        cdef Value *value = &self.tables.value[row]
        cdef Uop *uop
        value.ready = ready
        position = value.waiters
        while position != NONE:
            waiting = self.tables.input[position].uop
            uop = &self.tables.uop[waiting]
            uop.pending -= 1
            if uop.pending == 0:
                # The picks of this cycle are made.
                self._become_ready(waiting, cycle, cycle + 1)
            position = self.tables.input[position].next
