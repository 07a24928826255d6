# Golden Cove and its descendants: stores of one cache line leave per cycle (Z5).

cdef enum:
    _MOST = 2  # Stores per cycle; a store that fills a line counts twice.


cdef class LineCommit(CommitRule):
    """The second store leaves with the first if it is for the same line."""

    cdef Tables tables
    cdef int _count
    cdef long long _line

    def __init__(self, Tables tables, microarchitecture):
        self.tables = tables
        self._count = 0
        self._line = 0

    cdef void next_cycle(self) noexcept nogil:
        """A cycle begins."""
        self._count = 0

    cdef bint may_leave(self, int store) noexcept nogil:
        """Whether it is the first store of the cycle, or a second one to the same line."""
        cdef bint whole
        line = self._line_of(store)
        whole = self.tables.store[store].bytes >= CODE_LINE
        if self._count >= _MOST or (self._count > 0 and (whole or line != self._line)):
            return False
        self._count += 2 if whole else 1
        self._line = line
        return True

    cdef long long _line_of(self, int place) noexcept nogil:
        """The number of the line that a store writes to. Unknown addresses count as aligned to a line."""
        cdef StoreEntry *store = &self.tables.store[place]
        address = store.base + store.index * store.scale
        return (address + store.displacement) // CODE_LINE
