# Binding with twelve ports: Golden Cove and Redwood Cove (P1, P2).

cdef enum:
    _TWELVE_PORTS_IMBALANCE = 4


cdef class TwelvePorts(LateBinding):
    """Chooses by issue slot among the ports within four uops of the least used one. The counts are a cycle
    old; memory ports take turns."""

    cdef int _memory
    cdef int[::1] _latest  # Port taken last of each set of memory ports, by the lowest port of the set.

    def __init__(self, Tables tables, microarchitecture, Queues queues, Entries entries):
        super().__init__(tables, microarchitecture, queues, entries)
        units = microarchitecture.units
        stores = units.having(Role.STORE_ADDRESS).mask | units.having(Role.STORE_DATA).mask
        self._memory = units.having(Role.LOAD).mask | stores
        self._latest = ints(MOST_UNITS)

    cdef int start(self) except -1:
        """Reset: no uop is bound."""
        LateBinding.start(self)
        for unit in range(MOST_UNITS):
            self._latest[unit] = 0

    cdef int choose(self, int units, int slot) noexcept nogil:
        """The port for a uop in this issue slot."""
        if units & self._memory:
            return self._in_turn(units)
        # The allowed ports by usage, higher numbers first, without those that lag far behind.
        return self.ranked(slot % self.rank(units, _TWELVE_PORTS_IMBALANCE))

    cdef int record(self, Record state) except -1 nogil:
        """Record this part of the pipeline's state."""
        LateBinding.record(self, state)
        for unit in range(self._units):
            state.add(self._latest[unit])

    cdef int _in_turn(self, int units) noexcept nogil:
        """The next port of the set above the latest one, or else the lowest."""
        lowest = self.only(units)
        unit = self._latest[lowest] + 1
        while unit < self._units and not units >> unit & 1:
            unit += 1
        if unit == self._units:
            unit = lowest
        self._latest[lowest] = unit
        return unit
