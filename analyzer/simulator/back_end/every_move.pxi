# Zen 3 to 5: the renamer eliminates every eligible register move (M7).


cdef class EveryMove(Elimination):
    """Does not count the values that registers share."""

    def __init__(self, Tables tables, microarchitecture):
        super().__init__()

    cdef bint decide(self, int register_class) noexcept nogil:
        """Whether the next move of this class in the cycle is eliminated."""
        return True
