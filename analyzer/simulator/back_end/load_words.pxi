# Golden Cove and its descendants: three loads leave together only if they do not all read one word (Z6).

cdef enum:
    _ALL_WORDS = (1 << LINE_WORDS) - 1


cdef class LoadWords(DispatchRule):
    """Of three loads that read the same word of four bytes, by its offset within the line, the youngest
    waits. The lines may differ."""

    cdef Tables tables
    cdef int _first
    cdef int _second
    cdef int _third

    def __init__(self, Tables tables, microarchitecture):
        units = microarchitecture.units
        self.tables = tables
        loads = units.numbers(units.having(Role.LOAD))
        self._first = loads[0]
        self._second = loads[1]
        self._third = loads[2]

    cdef int held_back(self, SequenceQueues ready) noexcept nogil:
        """The unit of the youngest of three loads that collide."""
        if not (ready.counts[self._first] and ready.counts[self._second] and ready.counts[self._third]):
            return 0
        first = ready.oldest(self._first)
        second = ready.oldest(self._second)
        third = ready.oldest(self._third)
        words = self.tables.uop[first].words
        second_words = self.tables.uop[second].words
        third_words = self.tables.uop[third].words
        if words >> LINE_WORDS != second_words >> LINE_WORDS:
            return 0
        if words >> LINE_WORDS != third_words >> LINE_WORDS:
            return 0
        if not words & second_words & third_words & _ALL_WORDS:
            return 0
        oldest = min(first, min(second, third))
        if first > second and first > third:
            return self._hold(first, self._first, oldest)
        if second > third:
            return self._hold(second, self._second, oldest)
        return self._hold(third, self._third, oldest)

    cdef int _hold(self, int uop, int unit, int oldest) noexcept nogil:
        self.tables.uop[uop].collided = 1
        self.tables.queue(uop, QUEUED_FOR_PAIR, oldest)
        return 1 << unit
