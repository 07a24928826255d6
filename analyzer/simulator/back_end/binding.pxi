# Interface of the rule that binds uops to units when they issue (uiCA model, 3.11.1).

cdef enum:
    _NO_PREFERENCE = 1 << 16
    _PRIME = 65521
    _NUMBERS = 1 << 5  # A power of two larger than the number of units.


cdef class Binding:
    """Counts the uops bound to each unit; the core's rule chooses among the units that a uop may take. All
    uops of a cycle are bound with the same snapshot of the counts."""

    cdef Tables tables
    cdef Program program
    cdef PairQueue _bound
    cdef Entries _entries
    cdef int _units
    # Uops bound to each unit and not yet dispatched; the scheduler decrements it.
    cdef int[::1] usage
    cdef int[::1] _weights  # Weight of a uop of each unit in the outline.
    cdef int[::1] snapshot  # The counts that the bindings of this cycle see.
    # The only unit that a uop may take, by row of the uop; NONE if there are several or none.
    cdef int[::1] _single
    # Units in their latest order: the count in the high bits, and a tie-break in favour of higher
    # numbers below.
    cdef int[::1] _ranks
    cdef int _ranked  # The units ranked last in this cycle.
    cdef int _near  # How many of the ranked units the rule chooses among.

    def __init__(
        self, Tables tables, microarchitecture, Queues queues, Entries entries, widest=_NO_PREFERENCE
    ):
        """``widest``: number of issue slots that the rule defines. Raises ValueError for a wider core."""
        if microarchitecture.issue_width > widest:
            raise ValueError(
                f"{microarchitecture.name}: at most {widest} uops per cycle can be bound to ports"
            )
        self.tables = tables
        self.program = tables.program
        self._bound = queues.bound
        self._entries = entries
        self._units = len(microarchitecture.units)
        self.usage = ints(MOST_UNITS)
        self._weights = ints(MOST_UNITS)
        for unit in range(MOST_UNITS):
            self._weights[unit] = pow(31, unit + 1, _PRIME)
        self.snapshot = ints(MOST_UNITS)
        self._single = ints(0)
        self._ranks = ints(MOST_UNITS)
        self._ranked = 0
        self._near = 0

    cdef int start(self) except -1:
        """Reset: no uop is bound."""
        for unit in range(MOST_UNITS):
            self.usage[unit] = 0
        if self.program.all_uops > len(self._single):
            self._single = ints(2 * self.program.all_uops)
        for static in range(self.program.all_uops):
            units = self.program.uop[static].port_mask
            self._single[static] = self.only(units) if units and units & (units - 1) == 0 else NONE

    cdef void tick(self) noexcept nogil:
        """Bind the uops of the issue group to units."""
        cdef Uop *uop
        self.look()
        self._ranked = 0
        for place in range(self._bound.count):
            number = self._bound.firsts[place]
            uop = &self.tables.uop[number]
            static = uop.static
            unit = self._single[static]
            if unit == NONE:
                unit = self.choose(self.program.uop[static].port_mask, self._bound.seconds[place])
            uop.port = unit
            self.usage[unit] += 1
            self._entries.enter(unit)

    cdef void look(self) noexcept nogil:
        """Take the snapshot of the counts at the beginning of the cycle."""
        if self._bound.count > 0:
            for unit in range(self._units):
                self.snapshot[unit] = self.usage[unit]

    cdef int choose(self, int units, int slot) noexcept nogil:
        """The unit for a uop in this issue slot that may take any of ``units`` (two or more)."""
        return self.only(units & -units)

    cdef bint settled(self) noexcept nogil:
        """Whether a cycle without uops leaves the state unchanged."""
        return True

    cdef int outline(self) noexcept nogil:
        """A hash of the counts."""
        digest = 0
        for unit in range(self._units):
            digest += self.usage[unit] * self._weights[unit]
        return digest

    cdef int record(self, Record state) except -1 nogil:
        """Record this part of the pipeline's state."""
        for unit in range(self._units):
            state.add(self.usage[unit])
            if state.differs:
                break

    cdef int only(self, int units) noexcept nogil:
        """The number of the only unit in the mask."""
        number = 0
        while not units >> number & 1:
            number += 1
        return number

    cdef int rank(self, int units, int imbalance) noexcept nogil:
        """Sort these units into ``ranked``: lowest count first, on a tie the highest number first. Returns
        how many have a count less than ``imbalance`` above the lowest. ``imbalance`` must be the same in
        every call."""
        if units == self._ranked:
            return self._near
        self._ranked = units
        count = unit = 0
        while units:
            if units & 1:
                rank = self.snapshot[unit] * _NUMBERS - unit
                place = count
                while place > 0 and self._ranks[place - 1] > rank:
                    self._ranks[place] = self._ranks[place - 1]
                    place -= 1
                self._ranks[place] = rank
                count += 1
            units >>= 1
            unit += 1
        farthest = (self.snapshot[self.ranked(0)] + imbalance - 1) * _NUMBERS
        near = 1
        while near < count and self._ranks[near] <= farthest:
            near += 1
        self._near = near
        return near

    cdef int ranked(self, int place) noexcept nogil:
        """The unit at this place of the latest order."""
        return -self._ranks[place] & (_NUMBERS - 1)


cdef class LateBinding(Binding):
    """A rule whose snapshot is a cycle old: the counts at the beginning of the cycle before."""

    cdef int[::1] previous  # The counts of the cycle before.

    def __init__(
        self, Tables tables, microarchitecture, Queues queues, Entries entries, widest=_NO_PREFERENCE
    ):
        super().__init__(tables, microarchitecture, queues, entries, widest)
        self.previous = ints(MOST_UNITS)

    cdef int start(self) except -1:
        """Reset: no uop is bound."""
        Binding.start(self)
        for unit in range(MOST_UNITS):
            self.previous[unit] = 0

    cdef void look(self) noexcept nogil:
        """Take the snapshot of the counts at the beginning of the previous cycle."""
        memcpy(&self.snapshot[0], &self.previous[0], self._units * sizeof(int))
        memcpy(&self.previous[0], &self.usage[0], self._units * sizeof(int))

    cdef bint settled(self) noexcept nogil:
        """Whether the counts equal those of the cycle before."""
        return memcmp(&self.previous[0], &self.usage[0], self._units * sizeof(int)) == 0

    cdef int record(self, Record state) except -1 nogil:
        """Record this part of the pipeline's state."""
        Binding.record(self, state)
        for unit in range(self._units):
            state.add(self.previous[unit])
