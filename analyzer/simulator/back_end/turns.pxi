# Sets of units whose uops take turns regardless of load.


@cython.final
cdef class Turns:
    """Remembers the unit taken last of each set. The sets are disjoint."""

    cdef int[::1] _latest  # The unit taken last, by the lowest unit of the set.

    def __init__(self):
        self._latest = ints(MOST_UNITS)

    cdef void start(self) noexcept nogil:
        """Reset: the second unit of every set comes first."""
        for unit in range(MOST_UNITS):
            self._latest[unit] = 0

    cdef int next(self, int units) noexcept nogil:
        """The unit of the set above the latest one, or else the lowest."""
        lowest = 0
        while not units >> lowest & 1:
            lowest += 1
        unit = max(self._latest[lowest], lowest) + 1
        while unit < MOST_UNITS and not units >> unit & 1:
            unit += 1
        if unit == MOST_UNITS:
            unit = lowest
        self._latest[lowest] = unit
        return unit

    cdef int record(self, Record state) except -1 nogil:
        """Record this part of the pipeline's state."""
        for unit in range(MOST_UNITS):
            state.add(self._latest[unit])
