# Writes finished stores to the cache (hardware model only): in order, after retirement, at most as many per
# cycle as have data, and no more than the core's rule lets commit together.
#
# A load that overlaps a store but cannot forward from it waits until the store has left. Intel's optimization
# manual describes when forwarding fails; measurements show that such loads wait for the cache
# (docs/accuracy.md).


@cython.final
cdef class StoreBuffer:
    """Sets for every store the cycle in which it leaves.

    Stores leave as fast as they can retire. If they left more slowly, the buffer would grow without bound.
    """

    cdef Tables tables
    cdef CommitRule _commit  # None if the core names no rule.
    cdef int _width  # Stores whose data one cycle can take.
    cdef int _oldest  # The oldest store that has not left.
    cdef int _last  # The last cycle in which a store left.

    def __init__(self, Tables tables, microarchitecture):
        units = microarchitecture.units
        self.tables = tables
        self._commit = make_store_commit(tables, microarchitecture)
        self._width = len(units.having(Role.STORE_DATA).names)

    cdef void start(self) noexcept nogil:
        """Reset to empty."""
        self._oldest = 0
        self._last = -_IN_CACHE

    cdef void tick(self, int cycle) noexcept nogil:
        """Let the stores leave that may. Where stores commit together, the first one after a pause leaves
        alone. (Measured on Golden Cove: a load that waits for 1, 2, 4, 6, 10 stores takes 15, 16, 17, 18, 20
        cycles.)"""
        width = self._width
        if self._commit is not None:
            self._commit.next_cycle()
            if self._last < cycle - 1:
                width = 1
        for _ in range(width):
            if self.waits() or (self._commit is not None and not self._commit.may_leave(self._oldest)):
                return
            self.tables.store[self._oldest].left = self._last = cycle
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
        state.add_time(self._last, 1)
