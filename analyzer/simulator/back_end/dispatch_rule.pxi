# Interface of the rule by which the units of a core hold each other back.


cdef class DispatchRule:
    """Names the units that may not take a uop in a cycle. Each core names its rule, if any."""

    cdef void start(self) noexcept nogil:
        """Reset: no uop was dispatched."""
        pass

    cdef int held_back(self, SequenceQueues ready) noexcept nogil:
        """Mask of the units that take nothing in this cycle. ``ready``: the ready uops by unit."""
        return 0

    cdef void left(self, int uop, int unit) noexcept nogil:
        """Called when a uop was dispatched to this unit."""
        pass

    cdef void pass_by(self, int cycles) noexcept nogil:
        """Skip this many cycles."""
        pass

    cdef int record(self, Record state) except -1 nogil:
        """Record this part of the pipeline's state."""
        pass
