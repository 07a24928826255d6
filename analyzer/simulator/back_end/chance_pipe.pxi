# Variant: a vector uop takes one of its free pipes at random (M32 gives an order).

cdef class ChancePipe(OldestReady):
    """Chooses like OldestReady, but among the free pipes of a vector uop at random."""

    cdef Chance _chance

    def __init__(self, Tables tables, microarchitecture, Operations operations, InFlight in_flight, seed):
        super().__init__(tables, microarchitecture, operations, in_flight)
        self._chance = Chance(seed)

    cdef int start(self, int most) except -1:
        """Reset: no uop is ready."""
        OldestReady.start(self, most)
        self._chance.start()

    cdef int record(self, Record state) except -1 nogil:
        """Record this part of the pipeline's state."""
        OldestReady.record(self, state)
        state.add(self._chance.state)

    cdef int _choose_pipe(self, int mask) noexcept nogil:
        return self._chance.one_of(mask)
