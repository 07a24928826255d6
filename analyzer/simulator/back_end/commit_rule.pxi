# Interface of the rule that limits how stores are written to the cache.


cdef class CommitRule:
    """Decides which stores may leave in the same cycle: at retirement, as a full store buffer would allow
    it, or from the simulated store queue on cores that have one. Each core names its rule, if any."""

    cdef void start(self) noexcept nogil:
        """Reset: no store has left."""
        pass

    cdef void next_cycle(self) noexcept nogil:
        """Begin a cycle."""
        pass

    cdef void pass_by(self, int cycles) noexcept nogil:
        """Skip this many cycles, in which no store could leave."""
        pass

    cdef bint may_leave(self, int store) noexcept nogil:
        """Whether the next store in program order leaves in this cycle; if so, it counts as gone."""
        return True

    cdef int record(self, Record state) except -1 nogil:
        """Record this part of the pipeline's state."""
        pass
