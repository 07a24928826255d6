# Interface of the rule by which loads take over the values of stores in flight.


cdef class MemoryRenaming:
    """Decides which loads need not wait for the store that they read from. In this base class all loads
    wait; cores without a rule use it."""

    cdef Tables tables
    cdef Program program
    cdef bint active  # Whether any load can ever take over a value.

    def __init__(self, Tables tables):
        self.tables = tables
        self.program = tables.program
        self.active = False

    cdef void stored(self, int store, int value, int key, int owed) noexcept nogil:
        """A store's data are renamed. ``key``: the register that holds them, NONE for a value within the
        instruction; ``owed``: whether a constant is owed to it (``Addition``)."""
        pass

    cdef int value(self, int uop, int i, int store) noexcept nogil:
        """The row of the value that a load takes over from this store, NONE if it has to load."""
        return NONE
