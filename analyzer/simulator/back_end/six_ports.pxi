# Binding with six ports: Sandy Bridge and Ivy Bridge (uiCA model, 3.11.1).

cdef enum:
    _SIX_PORTS_IMBALANCE = 3
    _SLOTS = 4


cdef class SixPorts(Binding):
    """Even slots take the least used port, odd ones the most used; loads alternate."""

    cdef Alternation _alternation
    cdef int _loads
    cdef int _alus
    cdef int[::1] _by_slot  # The ALU to take, by the least used ALU and the slot.

    def __init__(self, Tables tables, microarchitecture, Queues queues, Entries entries):
        super().__init__(tables, microarchitecture, queues, entries, _SLOTS)
        units = microarchitecture.units
        self._alternation = Alternation()
        self._loads = units.having(Role.LOAD).mask
        self._alus = units.having(Role.ALU).mask
        self._by_slot = ints(_SLOTS * self._units)
        alus = set(units.numbers(units.having(Role.ALU)))
        for least in alus:
            others = alus - {least}
            for slot, choice in enumerate((least, max(others), min(others), least)):
                self._by_slot[_SLOTS * least + slot] = choice

    cdef int start(self) except -1:
        """Reset: no uop is bound."""
        Binding.start(self)
        self._alternation.start()

    cdef int choose(self, int units, int slot) noexcept nogil:
        """The port for a uop in this issue slot."""
        if units == self._loads:
            return self.only(self._alternation.next(units))
        least = self._least(units)
        most = self._most(units)
        if self.snapshot[most] - self.snapshot[least] >= _SIX_PORTS_IMBALANCE:
            return least
        if units == self._alus:
            return self._by_slot[_SLOTS * least + slot]
        return least if slot % 2 == 0 else most

    cdef int record(self, Record state) except -1 nogil:
        """Record this part of the pipeline's state."""
        state.add(self._alternation.toggles)
        Binding.record(self, state)

    cdef int _least(self, int units) noexcept nogil:
        """The least used port, on a tie the lowest."""
        best = NONE
        for unit in range(self._units):
            if units >> unit & 1 and (best == NONE or self.snapshot[unit] < self.snapshot[best]):
                best = unit
        return best

    cdef int _most(self, int units) noexcept nogil:
        """The most used port, on a tie the highest."""
        best = NONE
        for unit in range(self._units):
            if units >> unit & 1 and (best == NONE or self.snapshot[unit] >= self.snapshot[best]):
                best = unit
        return best
