# Writes finished stores to the cache (hardware model only): in order, one per cycle, after retirement.
#
# A load that overlaps a store but cannot forward from it waits until the store has left. Intel's optimization
# manual describes when forwarding fails; measurements show that such loads wait for the cache
# (docs/accuracy.md).


@cython.final
cdef class StoreBuffer:
    """Sets for every store the cycle in which it leaves."""

    cdef Tables tables
    cdef int _oldest  # The oldest store that has not left.

    def __init__(self, Tables tables):
        self.tables = tables

    cdef void start(self) noexcept nogil:
        """Reset to empty."""
        self._oldest = 0

    cdef void tick(self, int cycle) noexcept nogil:
        """Let one store leave, if it may."""
        if not self.waits():
            self.tables.store[self._oldest].left = cycle
            self._oldest += 1

    cdef bint waits(self) noexcept nogil:
        """Whether no store can leave before one retires."""
        if self._oldest == self.tables.stores:
            return True
        data = self.tables.store[self._oldest].uop
        return data == NONE or self.tables.uop[data].retired == UNKNOWN

    cdef int record(self, Record state) except -1 nogil:
        """Record this part of the pipeline's state; ``Memory`` records when stores left."""
        state.add(self.tables.stores - self._oldest)
