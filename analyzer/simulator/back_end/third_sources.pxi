# Vector operations with three sources share a way to the registers with vector stores and transfers (M44).

cdef enum:
    _WAYS = 2  # Ways of third sources, of one of the pipes each.


@cython.final
cdef class ThirdSources:
    """How many operations with three sources may begin in a cycle."""

    cdef int _cost
    cdef int _debt  # Ways taken by stores and transfers, in eighths.
    cdef int _lost  # Those of this cycle, which no operation can take.
    cdef int _taken

    def __init__(self, cost):
        self._cost = cost
        self.start()

    cdef void start(self) noexcept nogil:
        """Reset: all ways are free."""
        self._debt = self._lost = self._taken = 0

    cdef void start_cycle(self) noexcept nogil:
        """A cycle begins: what was stored and transferred takes its ways."""
        self._taken = 0
        self._lost = min(_WAYS, self._debt // EIGHTHS)
        self._debt -= EIGHTHS * self._lost

    cdef bint take(self) noexcept nogil:
        """Whether a further operation may begin; if so, it counts as begun."""
        if self._lost and self._lost + self._taken >= _WAYS:
            return False
        self._taken += 1
        return True

    cdef void store(self) noexcept nogil:
        """A vector is stored, or transferred to integer registers."""
        self._debt += self._cost

    cdef bint waits(self) noexcept nogil:
        """Whether the next cycle has fewer ways."""
        return self._debt >= EIGHTHS

    cdef int record(self, Record state) except -1 nogil:
        """Record this part of the pipeline's state."""
        state.add(self._debt)
