# The schedulers (reservation stations): uops wait for their inputs, then for their unit (uiCA model, 3.11
# to 3.13). Event-driven: a waiting uop costs no simulation time.

cdef enum:
    _MIN_EXECUTION = 2
    _ADDRESS_KNOWN = 5
    _DATA_KNOWN = 1
    _FORWARDING = 4
    # Uops held back by a fence or an occupancy, and those checked in a cycle.
    _HELD = 0
    _CANDIDATES = 1
    _QUEUES = 2


@cython.final
cdef class Scheduler:
    """Holds uops from issue to dispatch; ``picker`` decides which of the ready ones leave."""

    cdef Tables tables
    cdef Program program
    cdef PairQueue _bound
    cdef PairQueue _free
    cdef Picker _picker
    cdef int _size
    cdef int _issue_width
    cdef int _delay
    cdef int _failed_forwarding
    cdef int _late
    cdef Fences fences
    cdef SequenceQueues _held
    cdef int[::1] _known  # Waiting uops whose inputs all became known in this cycle.
    cdef int _rob_size
    cdef int[::1] _blocked  # Dispatched loads that wait until a store has left the store buffer.
    cdef int[::1] _ring  # Future ready times, as linked lists over ``next_uop`` in a ring of cycles.
    cdef int[::1] tp_blocked
    cdef int _ring_mask
    cdef int _known_count
    cdef int _blocked_count
    cdef bint _ended  # Whether an occupancy ended in the latest cycle.

    def __init__(self, Tables tables, microarchitecture, Queues queues, Picker picker):
        self.tables = tables
        self.program = tables.program
        self._bound = queues.bound
        self._free = queues.free
        self._picker = picker
        self._size = microarchitecture.reservation_station_size
        self._issue_width = microarchitecture.issue_width
        self._delay = microarchitecture.issue_to_dispatch_delay
        self._failed_forwarding = microarchitecture.failed_forwarding_cycles
        self._late = microarchitecture.late_forwarding_cycles
        self.fences = Fences(tables)
        self._held = SequenceQueues(_QUEUES)
        self._known = ints(0)
        self._rob_size = microarchitecture.reorder_buffer_size
        self._blocked = ints(0)
        self._ring = ints(0)
        self.tp_blocked = ints(0)

    cdef int start(self) except -1:
        """Reset to empty."""
        self.fences.start()
        farthest = self.program.longest_wait + self._delay + self._failed_forwarding
        farthest += _ADDRESS_KNOWN + _FORWARDING
        size = 64
        while size <= farthest:
            size *= 2
        self._ring_mask = size - 1
        if size > len(self._ring):
            self._ring = ints(size)
        for slot in range(size):
            self._ring[slot] = NONE
        # The last group may overfill it: a fused uop of a microcoded instruction can hold hundreds of uops.
        most = 2 * self._size + self._issue_width * self.program.most_fused
        self._picker.start(most)
        self._held.start(most)
        self._known_count = 0
        if most > len(self._known):
            self._known = ints(most)
        if self.program.exact_memory:
            self._blocked = ints(self._rob_size * self.program.most_fused + most)
        if self.program.tp_names > len(self.tp_blocked):
            self.tp_blocked = ints(2 * self.program.tp_names)
        for name in range(self.program.tp_names):
            self.tp_blocked[name] = 0
        self._blocked_count = 0
        self._ended = False

    cdef bint waits(self, int cycle) noexcept nogil:
        """Whether nothing but countdowns happens in the next cycle without an issue group or a ready time."""
        return self._picker.next_event(cycle) > cycle + 1

    cdef int next_event(self, int cycle) noexcept nogil:
        """The next cycle in which a uop becomes ready or may leave, or a fence or an occupancy may end;
        NEVER if none is known."""
        following = self._picker.next_event(cycle)
        if self.program.has_special:
            following = min(following, self._next_special(cycle))
        for ahead in range(1, self._ring_mask + 1):
            if self._ring[(cycle + ahead) & self._ring_mask] != NONE:
                return min(following, cycle + ahead)
        return following

    cdef int _next_special(self, int cycle) noexcept nogil:
        following = self.fences.next_event(cycle)
        if self._held.counts[_HELD] > 0:
            if self._ended:
                return cycle + 1
            for name in range(self.program.tp_names):
                if self.tp_blocked[name] > 0:
                    # The counter is decremented at the end of a cycle and read before that.
                    following = min(following, cycle + self.tp_blocked[name] + 1)
        return following

    cdef void skip(self, int cycles) noexcept nogil:
        """Skip this many cycles, in which nothing happens."""
        self._picker.skip(cycles)
        for name in range(self.program.tp_names):
            self.tp_blocked[name] = max(0, self.tp_blocked[name] - cycles)

    cdef void wake(self, int cycle) noexcept nogil:
        """Step 1: uops whose ready time has come may leave."""
        slot = cycle & self._ring_mask
        first = self._ring[slot]
        if first != NONE:
            self._ring[slot] = NONE
            self._picker.admit(first)

    cdef void tick(self, int cycle) noexcept nogil:
        """Steps 3 to 7, after the issue group has been bound to units."""
        if self.program.has_special:
            for position in range(self._bound.count):
                self.fences.bound(self._bound.firsts[position])
        self._picker.tick(cycle)
        self._finish_dispatched(cycle)
        if not self.program.has_special:
            for position in range(self._free.count):
                self._fix(self._free.firsts[position], cycle)
            for position in range(self._known_count):
                self._fix(self._known[position], cycle)
            self._known_count = 0
        else:
            self._check_special(cycle)
            self.fences.tick(cycle)
            self._ended = False
            for name in range(self.program.tp_names):
                if self.tp_blocked[name]:
                    self.tp_blocked[name] -= 1
                    if self.tp_blocked[name] == 0:
                        self._ended = True

    cdef int record(self, Record state) except -1 nogil:
        """Record this part of the pipeline's state; the reorder buffer records the uops themselves."""
        self._picker.record(state)
        for name in range(self.program.tp_names):
            state.add(self.tp_blocked[name])
        if self.program.has_fences:
            self.fences.loads.record(state)
            self.fences.stores.record(state)

    cdef void _finish_dispatched(self, int cycle) noexcept nogil:
        """Step 4: fix the times of results. Stores first: a load may forward from them (3.11.2)."""
        cdef BlockUop *block_uop
        for position in range(self._picker.count if self.tables.stores > 0 else 0):
            uop = self._picker.dispatched[position]
            kind = self.program.uop[self.tables.uop[uop].static].kind
            if kind == STORE_ADDRESS:
                self._finish(uop, cycle, cycle + _ADDRESS_KNOWN)
                store = self.tables.uop[uop].store
                self.tables.store[store].address = cycle + _ADDRESS_KNOWN
                if self.tables.store[store].address > self.tables.store[store].data:
                    self.tables.store[store].last = uop
            elif kind == STORE_DATA:
                self._finish(uop, cycle, cycle + _DATA_KNOWN)
                known = cycle + _DATA_KNOWN
                store = self.tables.uop[uop].store
                if self._late:
                    known += self.tables.store[store].late * self._late
                self.tables.store[store].data = known
                if known >= self.tables.store[store].address:
                    self.tables.store[store].last = uop
        for position in range(self._picker.count):
            uop = self._picker.dispatched[position]
            static = self.tables.uop[uop].static
            block_uop = &self.program.uop[static]
            store = self.tables.uop[uop].store
            earliest = 0
            if store == NONE:
                if block_uop.kind != LOAD and not self.program.has_special:
                    self._finish_computation(uop, static, cycle)
                    continue
            else:
                if block_uop.kind != LOAD:
                    self._forward(store)
                    continue
                if self.tables.uop[uop].blocked:
                    self._blocked[self._blocked_count] = uop
                    self._blocked_count += 1
                    continue
                if not self._store_known(store):
                    self.tables.uop[uop].next_uop = self.tables.store[store].waiters
                    self.tables.store[store].waiters = uop
                    continue
                earliest = self._forwarded(store)
            self._finish(uop, cycle, earliest)
        if self._blocked_count > 0:
            self._unblock()

    cdef void _unblock(self) noexcept nogil:
        """Loads that could not forward get their results from the cache once it has the store's data."""
        cdef Uop *uop
        kept = 0
        for position in range(self._blocked_count):
            number = self._blocked[position]
            uop = &self.tables.uop[number]
            left = self.tables.store[uop.store].left
            if left == UNKNOWN:
                self._blocked[kept] = number
                kept += 1
            else:
                self._finish(number, uop.dispatched, left + self._failed_forwarding)
        self._blocked_count = kept

    cdef bint _store_known(self, int place) noexcept nogil:
        cdef StoreEntry *store = &self.tables.store[place]
        return store.address != UNKNOWN and store.data != UNKNOWN

    cdef int _forwarded(self, int place) noexcept nogil:
        cdef StoreEntry *store = &self.tables.store[place]
        return max(store.address, store.data) + _FORWARDING

    cdef void _forward(self, int place) noexcept nogil:
        """Loads that wait for a store's address and data get their results."""
        cdef StoreEntry *store = &self.tables.store[place]
        uop = store.waiters
        if uop == NONE or not self._store_known(place):
            return
        store.waiters = NONE
        while uop != NONE:
            following = self.tables.uop[uop].next_uop
            self._finish(uop, self.tables.uop[uop].dispatched, self._forwarded(place))
            uop = following

    cdef void _finish(self, int number, int dispatched, int earliest) noexcept nogil:
        """Fix the ready times of a dispatched uop's results and its completion. Neither the results of a
        load nor the completion of a store can be before ``earliest``."""
        cdef Uop *uop = &self.tables.uop[number]
        cdef BlockUop *block_uop
        cdef bint loads
        static = uop.static
        block_uop = &self.program.uop[static]
        executed = dispatched + _MIN_EXECUTION
        bonus = 0
        loads = block_uop.kind == LOAD
        if loads:
            bonus = uop.latency_bonus
            uop.late_by = NONE
        elif earliest > executed:
            executed = earliest
        if self.program.has_special and block_uop.first:
            executed = max(executed, dispatched + self.program.instruction[uop.position].tp)
        first = uop.first_result
        for value in range(first, first + block_uop.out_count):
            ready = dispatched + self.tables.value[value].latency - bonus
            if loads and ready < earliest:
                ready = earliest
                uop.late_by = self.tables.store[uop.store].last
            self._announce(value, ready)
            if ready > executed:
                executed = ready
        uop.executed = executed

    cdef void _finish_computation(self, int number, int static, int cycle) noexcept nogil:
        """Fix the same times for a uop that is dispatched now and neither loads nor stores."""
        cdef Uop *uop = &self.tables.uop[number]
        executed = cycle + _MIN_EXECUTION
        first = uop.first_result
        for value in range(first, first + self.program.uop[static].out_count):
            ready = cycle + self.tables.value[value].latency
            self._announce(value, ready)
            if ready > executed:
                executed = ready
        uop.executed = executed

    cdef void _announce(self, int row, int ready) noexcept nogil:
        """The ready time of a result is known: tell the uops that wait for it."""
        cdef Uop *uop
        cdef Value *value = &self.tables.value[row]
        value.ready = ready
        position = value.waiters
        while position != NONE:
            waiting = self.tables.input[position].uop
            uop = &self.tables.uop[waiting]
            if ready > uop.latest:
                uop.latest = ready
            pending = uop.pending - 1
            uop.pending = pending
            if pending == 0:
                self._known[self._known_count] = waiting
                self._known_count += 1
            position = self.tables.input[position].next

    cdef void _check_special(self, int cycle) noexcept nogil:
        """Step 5 if fences or occupancies may hold uops back: oldest first."""
        cdef Uop *uop
        cdef Instruction *instruction
        cdef bint limited, blocked, waited
        while self._held.counts[_HELD] > 0:
            self._held.push(_CANDIDATES, self._held.pop(_HELD))
        for position in range(self._free.count):
            self._held.push(_CANDIDATES, self._free.firsts[position])
        for position in range(self._known_count):
            self._held.push(_CANDIDATES, self._known[position])
        self._known_count = 0
        while self._held.counts[_CANDIDATES] > 0:
            number = self._held.pop(_CANDIDATES)
            uop = &self.tables.uop[number]
            i = uop.position
            instruction = &self.program.instruction[i]
            limited = instruction.tp > 0 and self.program.uop[uop.static].first != 0
            blocked = limited and self.tp_blocked[instruction.tp_name] > 0
            if blocked or not self.fences.allow(number, cycle):
                uop.held = self._occupied(i) if blocked else HELD_BY_FENCE
                self._held.push(_HELD, number)
                continue
            if limited:
                waited = uop.held != 0
                self.tp_blocked[instruction.tp_name] = instruction.tp_after_wait if waited else instruction.tp
            self.fences.fixed(number)
            self._fix(number, cycle)

    cdef int _occupied(self, int i) noexcept nogil:
        """Cycles for which the previous instance of the instruction still occupies its unit."""
        cdef Instruction *instruction = &self.program.instruction[i]
        first = instruction.uop0
        for static in range(first, first + instruction.uop_count):
            if self.program.uop[static].divider:
                return HELD_BY_DIVIDER
        return HELD_BY_UNIT

    cdef void _fix(self, int number, int cycle) noexcept nogil:
        """Fix the ready time of a uop whose inputs are all known (3.11.4)."""
        cdef Uop *uop = &self.tables.uop[number]
        latest = uop.latest
        earliest = uop.issued + self._delay
        ready = latest
        if latest < earliest:
            ready = earliest
        elif latest <= earliest + 1:
            # An input that arrives in the very cycle in which the uop could leave costs one cycle.
            ready = latest + 1
        if self.tables.watched:
            uop.allowed = earliest
            uop.inputs_ready = ready
            uop.last_input = self._last_input(number, latest)
        if ready <= cycle:
            ready = cycle + 1
        uop.ready = ready
        slot = ready & self._ring_mask
        uop.next_uop = self._ring[slot]
        self._ring[slot] = number

    cdef int _last_input(self, int number, int latest) noexcept nogil:
        """The input that came in this cycle, NONE if the uop waited for none."""
        cdef Uop *uop = &self.tables.uop[number]
        last = NONE
        first = uop.first_input
        for position in range(first, first + self.program.uop[uop.static].in_count):
            known = self.tables.value[self.tables.input[position].value].ready
            if known == latest and known > FOREVER and self.tables.younger(position, last):
                last = position
        return last
