# Binding with eight ports: Haswell to Cascade Lake (uiCA model, 3.11.1).

cdef enum:
    _EIGHT_PORTS_WIDTH = 8
    _EIGHT_PORTS_IMBALANCE = 3
    _FAR = 1 << 20  # Larger than any count.


cdef class EightPorts(Binding):
    """Even slots take the least used port, odd ones the second; loads alternate."""

    cdef Alternation _alternation
    cdef int _loads
    cdef int _first
    cdef int _second  # Ports for even and odd slots, of the set ranked last in this cycle.

    def __init__(self, Tables tables, microarchitecture, Queues queues, Entries entries):
        super().__init__(tables, microarchitecture, queues, entries, _EIGHT_PORTS_WIDTH)
        self._alternation = Alternation()
        self._loads = microarchitecture.units.having(Role.LOAD).mask
        self._first = 0
        self._second = 0

    cdef int start(self) except -1:
        """Reset: no uop is bound."""
        Binding.start(self)
        self._alternation.start()

    cdef int choose(self, int units, int slot) noexcept nogil:
        """The port for a uop in this issue slot."""
        if units == self._loads:
            return self.only(self._alternation.next(units))
        if units != self._ranked:
            self._rank_two(units)
        return self._second if slot & 1 else self._first

    cdef int record(self, Record state) except -1 nogil:
        """Record this part of the pipeline's state."""
        state.add(self._alternation.toggles)
        Binding.record(self, state)

    cdef void _rank_two(self, int units) noexcept nogil:
        """Find the least used of these ports (on a tie the highest) and the second, unless that has three
        uops more."""
        self._ranked = units
        first = second = unit = 0
        least = following = _FAR
        while units:
            if units & 1:
                count = self.snapshot[unit]
                if count <= least:
                    second = first
                    following = least
                    first = unit
                    least = count
                elif count <= following:
                    second = unit
                    following = count
            units >>= 1
            unit += 1
        self._first = first
        self._second = second if following < least + _EIGHT_PORTS_IMBALANCE else first
