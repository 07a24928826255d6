# Pairs of units whose uops alternate regardless of load: load ports, store ports.


@cython.final
cdef class Alternation:
    """Remembers which unit of each pair is next."""

    cdef int toggles  # Bits of the pairs whose next uop takes the higher unit.

    cdef void start(self) noexcept nogil:
        """Reset: the higher unit of every pair is first."""
        self.toggles = 0

    cdef int next(self, int units) noexcept nogil:
        """Mask of the unit for the next uop of a pair."""
        self.toggles ^= units
        low = units & -units
        return low if self.toggles & low else units ^ low
