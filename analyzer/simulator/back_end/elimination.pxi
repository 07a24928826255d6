# Interface of the rule by which the renamer eliminates register moves.


cdef class Elimination:
    """Decides which moves need no unit, and tracks the values that registers share as a result. This base
    class eliminates none; cores without a rule use it."""

    # Bits (``key_bit``) of the registers that share a value, as far as the rule tracks them; may
    # contain others.
    cdef long long members

    def __init__(self):
        self.members = 0

    cdef int start(self) except -1:
        """Reset: no value is shared."""
        pass

    cdef void start_cycle(self) noexcept nogil:
        """The renamer begins a cycle."""
        pass

    cdef bint decide(self, int register_class) noexcept nogil:
        """Whether the next move of this class in the cycle is eliminated."""
        return False

    cdef void decided(self) noexcept nogil:
        """All decisions of the cycle are made."""
        pass

    cdef void share(self, int value, int source, int target) noexcept nogil:
        """An eliminated move makes two registers hold one value."""
        pass

    cdef void overwrite(self, int value, int key) noexcept nogil:
        """A register no longer holds the value."""
        pass

    cdef void end_cycle(self) noexcept nogil:
        """The renamer ends a cycle."""
        pass

    cdef void pass_by(self, int cycles) noexcept nogil:
        """Skip this many cycles, in which nothing is renamed."""
        for _ in range(cycles):
            self.start_cycle()
            self.decided()
            self.end_cycle()

    cdef int record(self, Record state, int[::1] value) except -1 nogil:
        """Record this part of the pipeline's state. ``value``: the renamer's current values by key."""
        pass
