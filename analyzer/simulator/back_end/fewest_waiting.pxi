# Binds uops to the units with the fewest waiting uops: for cores without a published rule, or whose
# published rule contradicts measurements. Variants show how much a figure depends on the rule (P4, P5).

cdef enum:
    _CHANCE_IMBALANCE = 3
    _MANY = 1 << 20


cdef class FewestWaiting(Binding):
    """Counts include the uops bound earlier in the cycle. Units with equally few uops alternate: if the same
    one always came first, chains of a short loop would collide there again and again and delay each
    other."""

    cdef int[::1] _turns  # Units, least recently chosen first.

    def __init__(self, Tables tables, microarchitecture, Queues queues, Entries entries):
        super().__init__(tables, microarchitecture, queues, entries)
        self._turns = ints(self._units)

    cdef int start(self) except -1:
        """Reset: no uop is bound."""
        Binding.start(self)
        for unit in range(self._units):
            self._turns[unit] = unit

    cdef int choose(self, int units, int slot) noexcept nogil:
        """The unit with the fewest waiting uops, on a tie the least recently chosen one. With several
        schedulers, only units whose scheduler has a free place count, as long as there is one."""
        best = NONE
        best_turn = NONE
        for turn in range(self._units):
            unit = self._turns[turn]
            if not units >> unit & 1:
                continue
            if best != NONE and self._entries.by_uop and self._entries.free(unit) <= 0:
                continue
            if (
                best == NONE
                or self.usage[unit] < self.usage[best]
                or (self._entries.by_uop and self._entries.free(best) <= 0)
            ):
                best = unit
                best_turn = turn
        for turn in range(best_turn, self._units - 1):
            self._turns[turn] = self._turns[turn + 1]
        self._turns[self._units - 1] = best
        return best

    cdef int record(self, Record state) except -1 nogil:
        """Record this part of the pipeline's state."""
        Binding.record(self, state)
        for turn in range(self._units):
            state.add(self._turns[turn])


cdef class LoadsInTurn(FewestWaiting):
    """Loads take turns on their units; other uops take the unit with the fewest waiting uops."""

    cdef int _loads
    cdef Turns _load_turns

    def __init__(self, Tables tables, microarchitecture, Queues queues, Entries entries):
        super().__init__(tables, microarchitecture, queues, entries)
        self._loads = microarchitecture.units.having(Role.LOAD).mask
        self._load_turns = Turns()

    cdef int start(self) except -1:
        """Reset: no uop is bound."""
        FewestWaiting.start(self)
        self._load_turns.start()

    cdef int choose(self, int units, int slot) noexcept nogil:
        """The next unit in turn for a load; otherwise the unit that the rule chooses."""
        if units == self._loads:
            return self._load_turns.next(units)
        return self.among(units)

    cdef int among(self, int units) noexcept nogil:
        """The unit for an operation that may take any of these."""
        return FewestWaiting.choose(self, units, 0)

    cdef int record(self, Record state) except -1 nogil:
        """Record this part of the pipeline's state."""
        FewestWaiting.record(self, state)
        self._load_turns.record(state)


cdef class LeastBound(LoadsInTurn):
    """Variant: counts include uops bound earlier in the cycle; the highest number wins a tie. Loads take
    turns."""

    cdef int among(self, int units) noexcept nogil:
        """The unit with the fewest bound uops."""
        best = NONE
        for unit in range(self._units):
            if units >> unit & 1 and (best == NONE or self.usage[unit] <= self.usage[best]):
                best = unit
        return best


cdef class NearChance(LoadsInTurn):
    """Variant: chooses at random among the units with less than three bound uops more than the least used
    one, by the counts at the beginning of the cycle. Loads take turns."""

    cdef Chance _chance

    def __init__(self, Tables tables, microarchitecture, Queues queues, Entries entries, seed):
        super().__init__(tables, microarchitecture, queues, entries)
        self._chance = Chance(seed)

    cdef int start(self) except -1:
        """Reset: no uop is bound."""
        LoadsInTurn.start(self)
        self._chance.start()

    cdef int record(self, Record state) except -1 nogil:
        """Record this part of the pipeline's state."""
        LoadsInTurn.record(self, state)
        state.add(self._chance.state)

    cdef int among(self, int units) noexcept nogil:
        """A random unit of the least used ones."""
        least = _MANY
        for unit in range(self._units):
            if units >> unit & 1 and self.snapshot[unit] < least:
                least = self.snapshot[unit]
        near = 0
        for unit in range(self._units):
            if units >> unit & 1 and self.snapshot[unit] < least + _CHANCE_IMBALANCE:
                near |= 1 << unit
        return self._chance.one_of(near)
