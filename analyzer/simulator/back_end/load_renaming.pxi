# Interface of the rule by which loads take over the values of stores in flight, on a core that counts
# macro-ops.


cdef class LoadRenaming:
    """Decides which loads need not wait for a store that covers them and begins at the same byte. In this
    base class all loads wait; cores without a rule use it."""

    cdef Tables tables
    cdef Program program
    cdef Operations operations
    cdef InFlight flight

    def __init__(self, Tables tables, Operations operations, InFlight in_flight):
        self.tables = tables
        self.program = tables.program
        self.operations = operations
        self.flight = in_flight

    cdef void start(self) noexcept nogil:
        """Reset: nothing was loaded."""
        pass

    cdef bint takes_over(self, int uop, int store, int base, int index) noexcept nogil:
        """Whether a load takes over the value of a store. ``base``, ``index``: the values that its address
        is made from, or NONE."""
        return False

    cdef bint mistakes(self, int uop, int store, int base, int index) noexcept nogil:
        """Whether a load of other bytes than the store's is mistaken for one that reads them, because its
        displacement looks like the store's."""
        return False

    cdef int record(self, Record state) except -1 nogil:
        """Record this part of the pipeline's state."""
        pass
