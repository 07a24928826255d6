# Golden Cove and its descendants: results of three cycles and of one arrive in turn (Z7).

cdef enum:
    _LONGEST_WAIT = 32  # Cycles.
    _LEAST_LATENCY = 3  # Of uops whose results make others wait.
    _MOST_LATENCY = 30
    # Minimum run length in cycles if uops fall behind: they fill the scheduler and leave it again, over and
    # over, and the average has to settle.
    _SETTLING = 10000


cdef class SharedResults(BoundUnit):
    """On some units a uop with a latency of one cycle waits while the result of an earlier uop arrives, but
    not for ever. Younger uops pass it by."""

    cdef int _short  # First queue of uops with a latency of one cycle, by unit.
    cdef int[::1] _kinds  # Kind of the results that share the way out of each unit; NO_RESULT: none do.
    # Cycles in which earlier results of each unit arrive: a uop of one cycle that leaves ``n`` cycles from
    # now collides with bit ``n``.
    cdef int[::1] _arriving
    cdef int _carrying  # Mask of the units with any such cycle; may contain others.
    cdef int[::1] _latest_long  # The uop with such a result that left last for each unit.

    def __init__(
        self, Tables tables, microarchitecture, Entries entries, int[::1] usage, DispatchRule rule or None
    ):
        super().__init__(tables, microarchitecture, entries, usage, rule)
        self._short = self._units + self._dividers
        self._kinds = ints(self._units)
        self._arriving = ints(self._units)
        self._latest_long = ints(self._units)
        for unit in range(self._units):
            if microarchitecture.shared_integer_results.mask >> unit & 1:
                self._kinds[unit] = INTEGER_RESULT
            elif microarchitecture.shared_vector_results.mask >> unit & 1:
                self._kinds[unit] = VECTOR_RESULT

    cdef int start(self, int most) except -1:
        """Reset: no uop is ready."""
        BoundUnit.start(self, most)
        self.least_cycles = 0
        self._carrying = 0
        for unit in range(self._units):
            self._arriving[unit] = 0
            self._latest_long[unit] = NONE

    cdef void admit(self, int first) noexcept nogil:
        """The uops of a list (``next_uop``) may leave from now on."""
        uop = first
        while uop != NONE:
            unit = self.tables.uop[uop].port
            if self._shares(uop, unit) and self._latency(uop) == 1:
                self._queues.push(self._short + unit, uop)
                self._filled |= 1 << unit
                self._ready += 1
            else:
                BoundUnit._enter(self, uop)
            uop = self.tables.uop[uop].next_uop

    cdef void skip(self, int cycles) noexcept nogil:
        """Skip this many cycles."""
        BoundUnit.skip(self, cycles)
        if self._carrying:
            self._carrying = 0
            for unit in range(self._units):
                self._arriving[unit] = self._arriving[unit] >> cycles if cycles < _MOST_LATENCY else 0
                if self._arriving[unit]:
                    self._carrying |= 1 << unit

    cdef int record(self, Record state) except -1 nogil:
        """Record this part of the pipeline's state."""
        BoundUnit.record(self, state)
        for unit in range(self._units):
            state.add(self._arriving[unit])
            short = self._short + unit
            for position in range(self._queues.counts[short]):
                state.add(min(self._late(self._queues.item(short, position), state.cycle), _LONGEST_WAIT))

    cdef int _pop(self, int unit, int cycle) noexcept nogil:
        short = self._short + unit
        others = self._queues.counts[unit]
        queue = unit
        if self._queues.counts[short] > 0:
            oldest = self._queues.oldest(short)
            if self._arriving[unit] & 1 and self._late(oldest, cycle) < _LONGEST_WAIT:
                if self.tables.watched:
                    self.tables.queue(oldest, QUEUED_FOR_RESULT, self._latest_long[unit])
                if others == 0:
                    return NONE
                if oldest < self._queues.oldest(unit):
                    self.least_cycles = _SETTLING
            elif others == 0 or oldest < self._queues.oldest(unit):
                queue = short
        uop = self._queues.pop(queue)
        if self._queues.counts[unit] == 0 and self._queues.counts[short] == 0:
            self._filled ^= 1 << unit
        return uop

    cdef void _leave(self, int number, int unit, int cycle) noexcept nogil:
        BoundUnit._leave(self, number, unit, cycle)
        if self._shares(number, unit):
            latency = self._latency(number)
            if _LEAST_LATENCY <= latency <= _MOST_LATENCY:
                self._arriving[unit] |= 1 << (latency - 1)
                self._carrying |= 1 << unit
                self._latest_long[unit] = number

    cdef bint _shares(self, int uop, int unit) noexcept nogil:
        """Whether a result of the uop leaves the unit together with those of other uops."""
        cdef BlockUop *block_uop = &self.program.uop[self.tables.uop[uop].static]
        return self._kinds[unit] != NO_RESULT and block_uop.result == self._kinds[unit]

    cdef int _late(self, int uop, int cycle) noexcept nogil:
        """Cycles for which a uop has been ready."""
        return cycle - self.tables.uop[uop].ready

    cdef int _latency(self, int uop) noexcept nogil:
        return self.tables.value[self.tables.uop[uop].first_result].latency
