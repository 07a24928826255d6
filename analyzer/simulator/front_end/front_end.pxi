# Interface between the clock and the front end.


cdef class FrontEnd:
    """Brings instructions from the code into the IDQ. Each core names its front end; this base class
    delivers none."""

    # Rounds that enter the IDQ at once; 0 if delivery does not depend on rounds.
    cdef int lsd_unroll

    def __init__(self):
        self.lsd_unroll = 0

    cdef int start(self) except -1:
        """Prepare a run over the program; the queues are empty."""
        pass

    cdef int tick(self, int cycle) except -1 nogil:
        """Deliver to the IDQ as much as this cycle allows."""
        pass

    cdef int idle(self) noexcept nogil:
        """Number of cycles in which nothing but countdowns happens if no uop leaves the IDQ."""
        return NEVER

    cdef void skip(self, int cycles) noexcept nogil:
        """Skip this many of them."""
        pass

    cdef int record(self, Record state) except -1 nogil:
        """Record this part of the pipeline's state, with the IDQ."""
        pass

    cdef int outline(self) noexcept nogil:
        """A hash of the state."""
        return 0

    cdef object buffers(self):
        """The buffers up to and including the IDQ, in order."""
        return ()

    cdef object placement(self):
        """What a run depends on of the code's position: blocks of the same instructions with equal values
        run alike."""
        return b""
