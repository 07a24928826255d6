# The store queue: finished stores that wait to be written to the cache (M16).


@cython.final
cdef class StoreQueue:
    """Stores leave in order, after retirement; a policy decides how many per cycle."""

    cdef Tables tables
    cdef InFlight flight
    cdef CommitRule _commit
    cdef int _settling
    # Minimum run length with slow stores: twice the cycles that a queue full of them takes; else 0.
    cdef int least_cycles

    def __init__(self, Tables tables, microarchitecture, InFlight in_flight, CommitRule commit):
        rules = microarchitecture.macro_ops
        assert rules is not None
        self.tables = tables
        self.flight = in_flight
        self._commit = commit
        self._settling = 2 * rules.store_queue * rules.page_crossing_store_cycles

    cdef void start(self) noexcept nogil:
        """Reset: no store is leaving."""
        self._commit.start()
        self.least_cycles = 0

    cdef int record(self, Record state) except -1 nogil:
        """Record this part of the pipeline's state."""
        self._commit.record(state)

    cdef bint waits(self) noexcept nogil:
        """Whether no store can leave before one retires."""
        store = self.flight.oldest_store
        if store == self.tables.stores:
            return True
        data = self.tables.store[store].uop
        return data == NONE or self.tables.uop[data].retired == UNKNOWN

    cdef void skip(self, int cycles) noexcept nogil:
        """Skip this many waiting cycles."""
        self._commit.pass_by(cycles)

    cdef void tick(self, int cycle) noexcept nogil:
        """Simulate one cycle."""
        cdef StoreEntry *store
        self._commit.next_cycle()
        while self.flight.oldest_store < self.tables.stores:
            place = self.flight.oldest_store
            store = &self.tables.store[place]
            data = store.uop
            if data == NONE or self.tables.uop[data].retired == UNKNOWN or not self._commit.may_leave(place):
                return
            if self.flight.s_crosses[place & self.flight.store_mask] > 1:
                self.least_cycles = self._settling
            store.left = cycle
            self.flight.oldest_store += 1
