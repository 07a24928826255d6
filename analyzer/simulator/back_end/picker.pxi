# Interface of the rule by which ready uops leave for units.


cdef class Picker:
    """Holds the ready uops. The core's rule decides which of them leave in a cycle, and for which unit."""

    cdef int[::1] dispatched  # The uops that left in the latest cycle.
    cdef int count
    # Number of cycles, counted from the first in which a uop may leave, in which its issue time
    # matters.
    cdef int asks_issued
    cdef int least_cycles  # Minimum run length in cycles, from what has happened so far.

    def __init__(self):
        self.dispatched = ints(MOST_UNITS)
        self.count = 0
        self.asks_issued = 0
        self.least_cycles = 0

    cdef int start(self, int most) except -1:
        """Reset: no uop is ready. ``most``: largest number of ready uops at a time."""
        pass

    cdef void admit(self, int first) noexcept nogil:
        """The uops of a list (``next_uop``) may leave from now on."""
        pass

    cdef void tick(self, int cycle) noexcept nogil:
        """Let uops leave: list them in ``dispatched`` and ``count``, set the cycle ``dispatched`` of each
        and, unless already set, its ``port``, and free their places."""
        pass

    cdef int next_event(self, int cycle) noexcept nogil:
        """The next cycle in which anything but a countdown happens if no other uop becomes ready; NEVER if
        that is not known."""
        return NEVER

    cdef void skip(self, int cycles) noexcept nogil:
        """Skip this many waiting cycles."""
        pass

    cdef int record(self, Record state) except -1 nogil:
        """Record this part of the pipeline's state; the reorder buffer records the uops themselves."""
        pass
