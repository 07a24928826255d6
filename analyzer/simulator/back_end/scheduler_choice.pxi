# Interface of the rule that assigns uops to schedulers, on a core that counts macro-ops.


cdef class SchedulerChoice:
    """Chooses at dispatch the scheduler in which a uop waits, and so the units that it may take. Each core
    that counts macro-ops names its rule."""

    cdef void start(self) noexcept nogil:
        """Reset: all schedulers are empty."""
        pass

    cdef void start_cycle(self) noexcept nogil:
        """Begin a dispatch group."""
        pass

    cdef bint has_group_room(self, int first, int i) noexcept nogil:
        """Whether an instruction, whose uops begin at ``first``, may join the dispatch group."""
        return True

    cdef void end_cycle(self) noexcept nogil:
        """All uops of the dispatch group are known."""
        pass

    cdef bint have_room(self, int mask, int uops) noexcept nogil:
        """Whether a scheduler that feeds some of these units has room for this many uops."""
        return True

    cdef void enter(self, int uop, int mask) noexcept nogil:
        """Put a renamed uop that needs one of these units into a scheduler: set ``u_scheduler`` and
        ``u_units`` of ``InFlight``, and count it there."""
        pass

    cdef void refuse(self, int cycle, int mask) noexcept nogil:
        """Record that slots stay empty because the schedulers of these units are full."""
        pass

    cdef object buffers(self):
        """All schedulers."""
        return ()

    cdef int record(self, Record state) except -1 nogil:
        """Record this part of the pipeline's state."""
        pass
