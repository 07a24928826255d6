# A uop enters the emptiest of the schedulers that feed its units (M9). Variants show how much a figure
# depends on this rule (P5).

cdef enum:
    _UNBOUNDED = 1 << 20
    _SCHEDULER_IMBALANCE = 3
    # Kinds of uops, by the units that they need.
    _ADDRESSES = 0
    _INTEGERS = 1
    _OTHERS = 2
    _KINDS = 3
    _TAKEN = 1 << 16  # More uops than a scheduler holds.


cdef class EmptiestScheduler(SchedulerChoice):
    """The schedulers as dispatch sees them."""

    cdef Tables tables
    cdef Program program
    cdef PairQueue _issued
    cdef PairQueue _entries
    cdef InFlight flight
    cdef tuple _names
    cdef int _count
    cdef int[::1] _turns  # The scheduler that is next if equally few uops of a kind wait in several.
    cdef int[::1] _sizes
    cdef int[::1] _feeds  # Mask of the units that each scheduler feeds.
    cdef int _vector_units
    cdef int _address_units
    cdef int _alus
    cdef AluGroup _group
    cdef bint _grouped  # Whether each ALU's scheduler takes one operation of a dispatch group.
    cdef bint _shared  # Whether vector uops may take the pipes of all schedulers.

    def __init__(self, Tables tables, microarchitecture, Queues queues, InFlight in_flight):
        super().__init__()
        self.tables = tables
        self.program = tables.program
        self._issued = queues.issued
        self._entries = queues.rob
        self.flight = in_flight
        units = microarchitecture.units
        sizes = microarchitecture.scheduler_sizes
        self._names = tuple([each.buffer for each in microarchitecture.schedulers])
        self._count = len(sizes)
        self._turns = ints(_KINDS)
        self._sizes = ints(len(sizes))
        self._feeds = ints(len(sizes))
        for number, size in enumerate(sizes):
            self._sizes[number] = size
        for number, scheduler in enumerate(microarchitecture.scheduler_of_units):
            self._feeds[scheduler] |= 1 << number
        self._vector_units = 0
        for role in (Role.VECTOR, Role.TRANSFER, Role.FROM_INTEGER):
            self._vector_units |= units.having(role).mask
        self._address_units = units.having(Role.LOAD).mask | units.having(Role.STORE_ADDRESS).mask
        self._alus = units.having(Role.ALU).mask
        rules = microarchitecture.macro_ops
        assert rules is not None
        self._group = AluGroup(tables, units.having(Role.ALU), units.having(Role.BRANCH))
        self._grouped = rules.one_operation_per_alu
        self._shared = rules.vector_pipes_shared

    cdef void start(self) noexcept nogil:
        """Reset: all schedulers are empty."""
        for kind in range(_KINDS):
            self._turns[kind] = 0
        self._group.clear()

    cdef void start_cycle(self) noexcept nogil:
        """Begin a dispatch group."""
        self._group.clear()

    cdef bint has_group_room(self, int first, int i) noexcept nogil:
        """Whether an instruction, whose uops begin at ``first``, may join the dispatch group."""
        return not self._grouped or self._group.has_room(first, i)

    cdef void end_cycle(self) noexcept nogil:
        """Spread the ALU operations of the dispatch group over the schedulers: one to each, those with the
        fewest choices first."""
        cdef int taken
        taken = 0
        self._group.sort()
        for place in range(self._group.count):
            uop = self._group.uops[place]
            mask = self.program.uop[self.tables.uop[uop].static].port_mask
            best = fewest = NONE
            for step in range(self._count):
                scheduler = (self._turns[_INTEGERS] + step) % self._count
                if not self._feeds[scheduler] & mask:
                    continue
                waiting = 2 * self._waiting(scheduler, mask) + (_TAKEN if taken >> scheduler & 1 else 0)
                waiting -= self._group.prefers(mask, self._feeds[scheduler])
                if best == NONE or waiting < fewest:
                    best, fewest = scheduler, waiting
            taken |= 1 << best
            self._put(uop, mask, best)

    cdef int record(self, Record state) except -1 nogil:
        """Record this part of the pipeline's state."""
        for kind in range(_KINDS):
            state.add(self._turns[kind] % self._count)

    cdef object buffers(self):
        """All schedulers."""
        return tuple(
            [Buffer(name, size, size - 1) for name, size in zip(self._names, self._sizes, strict=True)]
        )

    cdef bint have_room(self, int mask, int uops) noexcept nogil:
        """Whether a scheduler that feeds some of these units has room for this many uops."""
        return self._choose(mask, uops) != NONE

    cdef void enter(self, int uop, int mask) noexcept nogil:
        """Put a renamed uop that needs one of these units into a scheduler."""
        if self._grouped and self._group.takes(mask):
            self._group.add(uop, mask)
            return
        scheduler = self._choose(mask, 0)
        if scheduler == NONE:
            # A microcoded instruction may need more room than there is.
            scheduler = self._choose(mask, -_UNBOUNDED)
        self._put(uop, mask, scheduler)

    cdef void _put(self, int uop, int mask, int scheduler) noexcept nogil:
        self._turns[self._kind(mask)] = scheduler + 1
        self.flight.waiting[scheduler] += 1
        if mask & self._address_units:
            self.flight.addresses[scheduler] += 1
        self.flight.u_scheduler[uop & self.flight.uop_mask] = scheduler
        if self._shared and mask & self._vector_units:
            self.flight.u_units[uop & self.flight.uop_mask] = mask
        else:
            self.flight.u_units[uop & self.flight.uop_mask] = mask & self._feeds[scheduler]
        if mask & self._vector_units:
            self.flight.vectors.push(uop, 0)

    cdef void refuse(self, int cycle, int mask) noexcept nogil:
        """Record that slots stay empty because the schedulers of these units are full. The scheduler with
        the oldest uop gets the blame."""
        uop = self._oldest_waiting(mask)
        which = self.flight.u_scheduler[uop & self.flight.uop_mask]
        self.tables.refuse(cycle, RS_FULL + SCHEDULERS * (1 + which), uop)

    cdef int _oldest_waiting(self, int mask) noexcept nogil:
        """The oldest uop in the schedulers that feed these units."""
        for place in range(self._entries.count):
            position = (self._entries.head + place) & self._entries.mask
            first = self._entries.firsts[position]
            for uop in range(first, first + self._entries.seconds[position]):
                if (
                    self.tables.uop[uop].dispatched == UNKNOWN
                    and self.tables.needs_unit(uop)
                    and self._feeds[self.flight.u_scheduler[uop & self.flight.uop_mask]] & mask
                ):
                    return uop
        # All of them were dispatched in this cycle.
        return self._issued.firsts[self._issued.head]

    cdef int _choose(self, int mask, int room) noexcept nogil:
        """Of the schedulers that feed these units and have this much room, the one with the fewest waiting
        uops of the same kind (addresses, or all others); NONE if no scheduler has room."""
        best = fewest = NONE
        turn = self._turns[self._kind(mask)]
        for step in range(self._count):
            scheduler = (turn + step) % self._count
            if self._feeds[scheduler] & mask and self._has_room(scheduler, room):
                waiting = self._waiting(scheduler, mask)
                if best == NONE or waiting < fewest:
                    best, fewest = scheduler, waiting
        return best

    cdef bint _has_room(self, int scheduler, int uops) noexcept nogil:
        """Whether a scheduler has room for this many uops. An empty one takes any instruction, even one with
        more uops than it has entries."""
        waiting = self.flight.waiting[scheduler]
        return waiting == 0 or waiting + uops <= self._sizes[scheduler]

    cdef int _waiting(self, int scheduler, int mask) noexcept nogil:
        """Number of waiting uops of the kind that needs these units."""
        addresses = self.flight.addresses[scheduler]
        if mask & self._address_units:
            return addresses
        return self.flight.waiting[scheduler] - addresses

    cdef int _kind(self, int mask) noexcept nogil:
        if mask & self._address_units:
            return _ADDRESSES
        return _INTEGERS if mask & self._alus else _OTHERS


cdef class FirstScheduler(EmptiestScheduler):
    """Variant: schedulers with equally few uops do not alternate; the first one is taken."""

    cdef void _put(self, int uop, int mask, int scheduler) noexcept nogil:
        EmptiestScheduler._put(self, uop, mask, scheduler)
        self._turns[self._kind(mask)] = 0


cdef class AnyScheduler(EmptiestScheduler):
    """Variant: uops enter the emptiest scheduler and may leave for any unit that can execute them, even if
    another scheduler feeds it. An upper limit of what better choices could gain."""

    cdef void _put(self, int uop, int mask, int scheduler) noexcept nogil:
        EmptiestScheduler._put(self, uop, mask, scheduler)
        self.flight.u_units[uop & self.flight.uop_mask] = mask


cdef class ChanceScheduler(EmptiestScheduler):
    """Variant: chooses at random among the schedulers that feed its units and hold less than three uops of
    its kind more than the emptiest one."""

    cdef Chance _chance
    cdef bint _enters

    def __init__(self, Tables tables, microarchitecture, Queues queues, InFlight in_flight, seed):
        super().__init__(tables, microarchitecture, queues, in_flight)
        self._chance = Chance(seed)
        self._enters = False

    cdef void start(self) noexcept nogil:
        """Reset: all schedulers are empty."""
        EmptiestScheduler.start(self)
        self._chance.start()

    cdef int record(self, Record state) except -1 nogil:
        """Record this part of the pipeline's state."""
        EmptiestScheduler.record(self, state)
        state.add(self._chance.state)

    cdef void enter(self, int uop, int mask) noexcept nogil:
        """Put a renamed uop that needs one of these units into a scheduler."""
        self._enters = True
        EmptiestScheduler.enter(self, uop, mask)
        self._enters = False

    cdef int _choose(self, int mask, int room) noexcept nogil:
        cdef int emptiest
        emptiest = EmptiestScheduler._choose(self, mask, room)
        if emptiest == NONE or not self._enters:
            return emptiest
        near = 0
        most = self._waiting(emptiest, mask) + _SCHEDULER_IMBALANCE
        for scheduler in range(self._count):
            if (
                self._feeds[scheduler] & mask
                and self._has_room(scheduler, room)
                and self._waiting(scheduler, mask) < most
            ):
                near |= 1 << scheduler
        return self._chance.one_of(near)
