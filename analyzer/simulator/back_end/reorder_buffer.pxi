# The reorder buffer: fused uops retire in order (uiCA model, 3.10).

cdef enum:
    _MARGIN = 16
    _SETTLED_ENTRIES = 4
    _LONG_WINDOW = 10
    _POSITION_TRIES = 5
    _TIME = 32  # Bits of a time.
    _STEP = 128  # Distance between two places: more than twice the number of units.


@cython.final
cdef class ReorderBuffer:
    """Entries are fused uops, or single ones without micro-fusion (B7), as (first uop, number of uops)."""

    cdef Tables tables
    cdef Program program
    cdef PairQueue _issued
    cdef CommitRule _commit
    cdef int _size
    cdef int _limit
    cdef bint _unfused  # Whether every uop takes an entry of its own.
    cdef int _retire_width
    # Cycles after issue from which on only the missing inputs decide when a uop is ready.
    cdef int _issued_long_ago
    cdef PairQueue entries
    # Retirement cycle of the key instruction's last fused uop, per round (5.2).
    cdef int[::1] key_cycle
    cdef int[::1] first_cycle  # Cycle in which the first uop of the round retired, per round.
    cdef int[::1] key_position  # Position of that uop within its retirement cycle, per round.
    cdef int last_round  # Round of the latest fused uop that retired.
    cdef int _filled  # Number of rounds, from the first, whose times were filled in and not simulated.
    cdef int _last_first  # First instance with uops in that round.
    cdef int key_rounds  # Rounds whose key instruction has retired.
    cdef int retired  # Fused uops that retired in the latest cycle.

    def __init__(
        self,
        Tables tables,
        microarchitecture,
        Queues queues,
        CommitRule commit=None,
        bint unfused=False,
    ):
        self.tables = tables
        self.program = tables.program
        self._issued = queues.issued
        self._commit = commit
        self._size = microarchitecture.reorder_buffer_size
        self._limit = self._size - microarchitecture.issue_width
        self._retire_width = microarchitecture.retire_width
        self._unfused = unfused
        self._issued_long_ago = microarchitecture.issue_to_dispatch_delay + 2
        self.entries = queues.rob
        self.key_cycle = ints(64)
        self.first_cycle = ints(64)
        self.key_position = ints(64)
        self.last_round = NONE
        self._filled = 0

    cdef int start(self) except -1:
        """Reset to empty."""
        self.entries.start(self._size + 64)
        # Rows that no run has written are 0; so short runs need not clear the longest run's tables.
        for round_number in range(max(self.last_round + 1, self._filled)):
            self.key_cycle[round_number] = 0
            self.first_cycle[round_number] = 0
            self.key_position[round_number] = 0
        self._filled = 0
        self.last_round = NONE
        self._last_first = NONE
        self.key_rounds = 0
        self.retired = 0

    cdef int reserve(self) except -1 nogil:
        """Make room for the rounds that one cycle can retire. Call it before each cycle."""
        if self.last_round + _MARGIN > len(self.key_cycle):
            with gil:
                self.grow(2 * (self.last_round + _MARGIN))

    cdef int grow(self, int rounds) except -1:
        """Make room for this many rounds."""
        if rounds > len(self.key_cycle):
            self.key_cycle = longer(self.key_cycle, rounds)
            self.first_cycle = longer(self.first_cycle, rounds)
            self.key_position = longer(self.key_position, rounds)

    cdef bint full(self) noexcept nogil:
        """Whether a whole issue group has no room."""
        return self.entries.count > self._limit

    cdef object buffer(self):
        """Size and fill of the buffer, which takes whole issue groups."""
        return Buffer("ROB", self._size, self._limit)

    cdef int next_retirement(self, int cycle) noexcept nogil:
        """The next cycle in which a fused uop retires, NONE if that is not known yet."""
        if self.entries.count == 0:
            return NONE
        first = self.entries.firsts[self.entries.head]
        latest = cycle
        for uop in range(first, first + self.entries.seconds[self.entries.head]):
            executed = self.tables.uop[uop].executed
            if executed == UNKNOWN:
                return NONE
            if executed > latest:
                latest = executed
        return latest + 1

    cdef void tick(self, int cycle) noexcept nogil:
        """Retire completed uops, then take in the issue group."""
        cdef Uop *uop
        cdef bint commits = self._commit is not None and self.tables.stores > 0
        unfinished = NONE
        position = 0
        if commits:
            self._commit.next_cycle()
        while position < self.entries.count:
            index = (self.entries.head + position) & self.entries.mask
            first = self.entries.firsts[index]
            end = first + self.entries.seconds[index]
            unfinished = self._unfinished(first, end, cycle)
            if position == self._retire_width or unfinished != NONE:
                break
            if commits and not self._may_commit(self._commit, first, end):
                break
            uop = &self.tables.uop[first]
            if self.tables.stamped:
                for number in range(end - first):
                    uop[number].retired = cycle
            i = uop.position
            if i == self.program.first_instruction:
                if uop.instance != self._last_first:
                    self._last_first = uop.instance
                    self.last_round += 1
                    self.first_cycle[self.last_round] = cycle
            if i == self.program.key_instruction:
                self.key_cycle[self.last_round] = cycle
                self.key_position[self.last_round] = position
                if self.program.uop[self.tables.uop[end - 1].static].last:
                    self.key_rounds = self.last_round + 1
            position += 1
        self.entries.drop(position)
        self.retired = position
        if self.tables.watched:
            self.tables.cycle[cycle].unfinished = unfinished
        if self._unfused:
            self._append_single()
        else:
            self.entries.append(self._issued)

    cdef object window(self, rounds):
        """First and last relevant round of this many (5.2, 5.3): the second half of the run. It ends where
        the key instruction retires at the same position within its cycle as at the beginning."""
        last = max(0, rounds - 2)
        first = min(last, rounds // 2)
        end = last
        if last - first > _LONG_WINDOW:
            for back in range(_POSITION_TRIES):
                if self.key_position[last - back] == self.key_position[first]:
                    end = last - back
                    break
        return first, end

    cdef int repeat(
        self, int first_round, int period_rounds, int period_cycles, int min_rounds, int min_cycles
    ) except? -1:
        """Fill in the times of the remaining rounds of a full run, all of which repeat those after
        ``first_round``. Returns how many rounds begin to retire in the run."""
        # The current round may have begun to retire, but the times of its end are not known yet.
        number = min(first_round + period_rounds + 1, self.last_round + 1)
        ahead = (min_cycles + 2) * period_rounds // period_cycles + period_rounds
        self.grow(number + max(ahead, min_rounds) + period_rounds + 1)
        while True:
            if number >= len(self.first_cycle):
                self.grow(2 * number)
            before = number - period_rounds
            cycle = self.first_cycle[before] + period_cycles
            self.first_cycle[number] = cycle
            self.key_cycle[number] = self.key_cycle[before] + period_cycles
            self.key_position[number] = self.key_position[before]
            if cycle > min_cycles + 1 and number >= min_rounds and cycle > self.first_cycle[min_rounds]:
                self._filled = number + 1
                return number
            number += 1

    cpdef double cycles_per_round(self, int first, int last) noexcept:
        """Cycles per round between the key instructions of two rounds; for a single round, from the start."""
        if first == last:
            return float(self.key_cycle[last])
        return float(self.key_cycle[last] - self.key_cycle[first]) / (last - first)

    cdef int record(self, Record state) except -1 nogil:
        """Record this part of the pipeline's state: everything about the uops in flight."""
        state.add(self.entries.count)
        if self.entries.count > 0 and not self.program.adds_uops:
            # They follow each other.
            first = self.entries.firsts[self.entries.head]
            last = (self.entries.head + self.entries.count - 1) & self.entries.mask
            state.add(first - state.uop)
            self._record_uops(state, first, self.entries.firsts[last] + self.entries.seconds[last])
            return 0
        for position in range(self.entries.count):
            index = (self.entries.head + position) & self.entries.mask
            first = self.entries.firsts[index]
            state.add(first - state.uop)
            self._record_uops(state, first, first + self.entries.seconds[index])
            if state.differs:
                break

    cdef int _record_uops(self, Record state, int first, int end) except -1 nogil:
        cdef Uop *uop
        cdef long long place
        cdef bint waits
        for index in range(first, end):
            uop = &self.tables.uop[index]
            if state.differs:
                break
            executed = uop.executed
            if executed != UNKNOWN and executed <= state.cycle:
                continue  # it only has to retire
            # Place and time in one number: a time takes less than half of the bits.
            place = (index - state.uop) * _STEP
            if executed != UNKNOWN:
                state.add((place << _TIME) + executed - state.cycle)
                continue
            waits = uop.dispatched == UNKNOWN
            if waits:
                # With the port that it waits for, and the latency bonus of its load.
                place += 4 + 2 * uop.port + uop.latency_bonus
                state.add((place << _TIME) + state.time(uop.ready, 0))
            else:
                state.add((place << _TIME) + state.time(uop.dispatched, LONG_AGO))
            if uop.store != NONE:
                state.add(4 * (uop.store - self.tables.stores) + uop.blocked)
            if not waits or uop.ready != UNKNOWN:
                continue
            state.add_time(uop.issued, self._issued_long_ago)
            first_input = uop.first_input
            inputs = self.program.uop[uop.static].in_count
            for operand in range(first_input, first_input + inputs):
                # An input that is ready five cycles after the issue delays the index no more than earlier
                # ones, and one that is ready now delays it less than an input whose time is not known
                # yet.
                oldest = min(state.cycle - uop.issued - _SETTLED_ENTRIES, 0)
                self.tables.record_value(state, self.tables.input[operand].value, oldest)

    cdef void _append_single(self) noexcept nogil:
        """Take in the issue group with an entry for every uop; the group has stopped where the room ends."""
        for slot in range(self._issued.count):
            first = self._issued.firsts[slot]
            for uop in range(first, first + self._issued.seconds[slot]):
                self.entries.push(uop, 1)

    cdef bint _may_commit(self, CommitRule commit, int first, int end) noexcept nogil:
        """Whether the stores among these uops may be written to the cache in this cycle."""
        cdef Uop *uop
        for number in range(first, end):
            uop = &self.tables.uop[number]
            if self.program.uop[uop.static].kind == STORE_DATA:
                store = uop.store
                if store != NONE and not commit.may_leave(store):
                    return False
        return True

    cdef void look(self, int cycle) noexcept nogil:
        """Record what keeps the oldest fused uop from retiring in this cycle."""
        unfinished = NONE
        if self.entries.count > 0:
            first = self.entries.firsts[self.entries.head]
            unfinished = self._unfinished(first, first + self.entries.seconds[self.entries.head], cycle)
        self.tables.cycle[cycle].unfinished = unfinished

    cdef int _unfinished(self, int first, int end, int cycle) noexcept nogil:
        """The last unfinished uop of a fused one, NONE if all are finished."""
        cdef Uop *uop
        for number in range(end - 1, first - 1, -1):
            uop = &self.tables.uop[number]
            if uop.executed == UNKNOWN or uop.executed >= cycle:
                return number
        return NONE
