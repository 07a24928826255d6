# Binding with ten ports: Ice Lake and its descendants (uiCA model, 3.11.1).

cdef enum:
    _TEN_PORTS_WIDTH = 8
    _TEN_PORTS_IMBALANCE = 5
    _MOST_SETS = 64
    _LAST_SLOT = 4


cdef class TenPorts(LateBinding):
    """Chooses among the ports within five uops of the least used one, by the slot and by how many earlier
    uops of the group may take the same ports. The counts are a cycle old; memory ports alternate."""

    cdef Alternation _alternation
    cdef int _loads
    cdef int _store_addresses
    cdef int _store_data
    cdef int[::1] _sets  # Port sets of the group's uops so far that had a choice.
    cdef int _sets_count

    def __init__(self, Tables tables, microarchitecture, Queues queues, Entries entries):
        super().__init__(tables, microarchitecture, queues, entries, _TEN_PORTS_WIDTH)
        units = microarchitecture.units
        self._alternation = Alternation()
        self._loads = units.having(Role.LOAD).mask
        self._store_addresses = units.having(Role.STORE_ADDRESS).mask
        self._store_data = units.having(Role.STORE_DATA).mask
        self._sets = ints(_MOST_SETS)

    cdef int start(self) except -1:
        """Reset: no uop is bound."""
        LateBinding.start(self)
        self._alternation.start()

    cdef void look(self) noexcept nogil:
        """Begin a cycle: the group has no uops yet."""
        LateBinding.look(self)
        self._sets_count = 0

    cdef int choose(self, int units, int slot) noexcept nogil:
        """The port for a uop in this issue slot."""
        earlier = 0
        for position in range(self._sets_count):
            if self._sets[position] == units:
                earlier += 1
        if self._sets_count < _MOST_SETS:
            self._sets[self._sets_count] = units
            self._sets_count += 1
        if units == self._loads or units == self._store_data or units == self._store_addresses:
            return self.only(self._alternation.next(units))
        # The allowed ports by usage, higher numbers first, without those that lag far behind.
        count = self.rank(units, _TEN_PORTS_IMBALANCE)
        if slot == _LAST_SLOT:
            return self.ranked(0)
        if slot == _LAST_SLOT - 1 and earlier == 0 and count > 1:
            return self.ranked(1)
        return self.ranked(earlier % count)

    cdef int record(self, Record state) except -1 nogil:
        """Record this part of the pipeline's state."""
        state.add(self._alternation.toggles)
        LateBinding.record(self, state)
