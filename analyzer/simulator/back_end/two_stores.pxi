# Two stores leave per cycle, whatever lines they go to: Zen 5 (M16).


cdef class TwoStores(CommitRule):
    """As many stores as the core's width. A store that crosses the end of its line leaves alone, and one
    that crosses the end of its page takes longer."""

    cdef Tables tables
    cdef InFlight flight
    cdef int _width
    cdef int _page_crossing
    cdef int _busy  # Cycles that the current store still takes.
    cdef int _left

    def __init__(self, Tables tables, microarchitecture, InFlight in_flight):
        rules = microarchitecture.macro_ops
        assert rules is not None
        self.tables = tables
        self.flight = in_flight
        self._width = rules.stores_committed_per_cycle
        self._page_crossing = rules.page_crossing_store_cycles

    cdef void start(self) noexcept nogil:
        """Reset: no store has left."""
        self._busy = 0
        self._left = 0

    cdef void next_cycle(self) noexcept nogil:
        """A cycle begins."""
        self._left = self._width
        if self._busy:
            self._busy -= 1
            self._left = 0

    cdef void pass_by(self, int cycles) noexcept nogil:
        """Skip this many cycles, in which no store could leave."""
        self._busy = max(0, self._busy - cycles)

    cdef bint may_leave(self, int store) noexcept nogil:
        """Whether the next store in program order leaves in this cycle; if so, it counts as gone."""
        if self._left == 0:
            return False
        crosses = self.flight.s_crosses[store & self.flight.store_mask]
        if crosses:
            if self._left < self._width:
                return False
            self._left = 0
            if crosses > 1:
                self._busy = self._page_crossing - 1
        else:
            self._left -= 1
        return True

    cdef int record(self, Record state) except -1 nogil:
        """Record this part of the pipeline's state."""
        state.add(self._busy)
