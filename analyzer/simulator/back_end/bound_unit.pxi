# Every unit takes the oldest ready uop bound to it; uops for a divider also wait until the divider is free
# (uiCA model, 3.12; Z3).


cdef class BoundUnit(Picker):
    """One queue per unit, and one per divider behind it. ``usage``: uops bound to each unit and not yet
    dispatched."""

    cdef Tables tables
    cdef Program program
    cdef Entries _entries
    cdef int[::1] _usage
    cdef DispatchRule _rule
    cdef int _units
    cdef int _dividers
    cdef SequenceQueues _queues
    cdef int[::1] _divider_of
    # The divider and the unit that a division takes, by the unit that it is bound to.
    cdef int[::1] _leaves_through
    cdef int _through  # Mask of the units through which divisions leave.
    cdef int[::1] _latest  # The uop that each unit took last.
    cdef int[::1] _latest_division
    cdef int[::1] _blocked  # Cycles for which each divider remains busy.
    cdef int _ready  # Number of uops in all queues.
    cdef int _filled  # Mask of the units whose queues are not empty.
    cdef int _dividing  # Number of uops in the queues of dividers.
    cdef int _busy_dividers

    def __init__(
        self, Tables tables, microarchitecture, Entries entries, int[::1] usage, DispatchRule rule or None
    ):
        super().__init__()
        units = microarchitecture.units
        self.tables = tables
        self.program = tables.program
        self._entries = entries
        self._usage = usage
        self._rule = rule
        self._units = len(units)
        self._dividers = len(microarchitecture.dividers)
        # The last queue of every unit is for pickers that distinguish two kinds of uops.
        self._queues = SequenceQueues(self._units + self._dividers + self._units)
        self._divider_of = ints(self._units)
        self._leaves_through = ints(self._units)
        for number, divider in enumerate(microarchitecture.dividers):
            for name in divider.units:
                self._divider_of[units.names.index(name)] = number
                self._leaves_through[units.names.index(name)] = units.names.index(divider.through or name)
        self._through = 0
        for unit in range(self._units):
            self._through |= 1 << self._leaves_through[unit]
        self._latest = ints(self._units)
        self._latest_division = ints(self._dividers)
        self._blocked = ints(self._dividers)

    cdef int start(self, int most) except -1:
        """Reset: no uop is ready."""
        self._queues.start(most)
        self.count = 0
        self._ready = 0
        self._filled = 0
        self._dividing = 0
        self._busy_dividers = 0
        for unit in range(self._units):
            self._latest[unit] = NONE
        for divider in range(self._dividers):
            self._blocked[divider] = 0
            self._latest_division[divider] = NONE
        if self._rule is not None:
            self._rule.start()

    cdef void admit(self, int first) noexcept nogil:
        """The uops of a list (``next_uop``) may leave from now on."""
        uop = first
        while uop != NONE:
            self._enter(uop)
            uop = self.tables.uop[uop].next_uop

    cdef void _enter(self, int number) noexcept nogil:
        cdef Uop *uop = &self.tables.uop[number]
        queue = uop.port
        if self.program.uop[uop.static].divider:
            queue = self._units + self._divider_of[queue]
            self._dividing += 1
        else:
            self._filled |= 1 << queue
        self._queues.push(queue, number)
        self._ready += 1

    cdef void tick(self, int cycle) noexcept nogil:
        """Every unit takes a uop if it has one."""
        for position in range(self.count):
            self._usage[self.tables.uop[self.dispatched[position]].port] -= 1
        self.count = 0
        if self._ready > 0:
            self._dispatch(cycle)
        self.skip(1)

    cdef int next_event(self, int cycle) noexcept nogil:
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

    cdef void skip(self, int cycles) noexcept nogil:
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

    cdef int record(self, Record state) except -1 nogil:
        """Record this part of the pipeline's state."""
        for divider in range(self._dividers):
            state.add(self._blocked[divider])
        for position in range(self.count):
            state.add(self.tables.uop[self.dispatched[position]].port)
        if self._rule is not None:
            self._rule.record(state)

    cdef void _dispatch(self, int cycle) noexcept nogil:
        cdef bint divides
        held = 0 if self._rule is None else self._rule.held_back(self._queues)
        divides = self._dividing > 0
        filled = self._filled & ~held
        left = filled | self._through if divides else filled
        unit = 0
        while left:
            if left & 1 and not (divides and self._divide(unit, cycle)) and filled >> unit & 1:
                uop = self._pop(unit, cycle)
                if uop != NONE:
                    self._leave(uop, unit, cycle)
                    if self._rule is not None:
                        self._rule.left(uop, unit)
            left >>= 1
            unit += 1

    cdef int _pop(self, int unit, int cycle) noexcept nogil:
        """Remove the uop that leaves for a unit, NONE if none may. At least one uop is ready for the unit."""
        uop = self._queues.pop(unit)
        if self._queues.counts[unit] == 0:
            self._filled ^= 1 << unit
        return uop

    cdef bint _divide(self, int unit, int cycle) noexcept nogil:
        """Whether this unit takes a uop for a divider in this cycle."""
        cdef Uop *uop
        for divider in range(self._dividers):
            queue = self._units + divider
            if self._queues.counts[queue] == 0 or self._blocked[divider] > 0:
                continue
            number = self._queues.oldest(queue)
            uop = &self.tables.uop[number]
            if self._leaves_through[uop.port] != unit:
                continue
            if self._queues.counts[unit] == 0 or number < self._queues.oldest(unit):
                self._queues.pop(queue)
                self._blocked[divider] = self.program.uop[uop.static].divider
                self._busy_dividers += 1
                self._dividing -= 1
                self._leave(number, unit, cycle)
                if uop.ready < cycle and self._was_busy(divider, cycle - 1):
                    self.tables.queue(number, QUEUED_FOR_DIVIDER, self._latest_division[divider])
                self._latest_division[divider] = number
                return True
        return False

    cdef bint _was_busy(self, int divider, int cycle) noexcept nogil:
        """Whether the divider was still busy with its previous uop."""
        uop = self._latest_division[divider]
        if uop == NONE:
            return False
        return cycle < self.tables.uop[uop].dispatched + self.program.uop[self.tables.uop[uop].static].divider

    cdef void _leave(self, int number, int unit, int cycle) noexcept nogil:
        cdef Uop *uop = &self.tables.uop[number]
        if self.tables.watched:
            before = self._latest[unit]
            if uop.ready < cycle and before != NONE and self.tables.uop[before].dispatched == cycle - 1:
                self.tables.queue(number, QUEUED_FOR_PORT, before)
            self._latest[unit] = number
        uop.dispatched = cycle
        self.dispatched[self.count] = number
        self.count += 1
        self._entries.leave(uop.port)
        self._ready -= 1


cdef class EveryReady(BoundUnit):
    """Uops that could use another unit never wait for theirs: an upper limit of what better binding could
    gain. They leave as soon as they are ready and take no unit from others. Memory accesses, divisions and
    uops for a single unit are dispatched as usual."""

    cdef int _memory
    cdef int[::1] _unbound  # Ready uops that leave in this cycle unconditionally.
    cdef int _unbound_count

    def __init__(
        self, Tables tables, microarchitecture, Entries entries, int[::1] usage, DispatchRule rule or None
    ):
        super().__init__(tables, microarchitecture, entries, usage, rule)
        self._memory = 0
        for role in (Role.LOAD, Role.STORE_ADDRESS, Role.STORE_DATA):
            self._memory |= microarchitecture.units.having(role).mask
        self._unbound = ints(0)
        self._unbound_count = 0

    cdef int start(self, int most) except -1:
        """Reset: no uop is ready."""
        BoundUnit.start(self, most)
        self._unbound_count = 0
        if most > len(self._unbound):
            self._unbound = ints(2 * most)
            self.dispatched = ints(2 * most + 2 * self._units)

    cdef void admit(self, int first) noexcept nogil:
        """The uops of a list (``next_uop``) may leave from now on."""
        cdef BlockUop *block_uop
        uop = first
        while uop != NONE:
            static = self.tables.uop[uop].static
            block_uop = &self.program.uop[static]
            units = block_uop.port_mask
            if units & (units - 1) == 0 or units & self._memory or block_uop.divider:
                self._enter(uop)
            else:
                self._unbound[self._unbound_count] = uop
                self._unbound_count += 1
                self._ready += 1
            uop = self.tables.uop[uop].next_uop

    cdef int next_event(self, int cycle) noexcept nogil:
        """The next cycle if such uops are ready."""
        return cycle + 1 if self._unbound_count > 0 else BoundUnit.next_event(self, cycle)

    cdef void _dispatch(self, int cycle) noexcept nogil:
        BoundUnit._dispatch(self, cycle)
        for position in range(self._unbound_count):
            uop = self._unbound[position]
            self._leave(uop, self.tables.uop[uop].port, cycle)
        self._unbound_count = 0
