# Sandy Bridge and Ivy Bridge: 256-bit accesses occupy a memory unit twice as long (Z2, Z4).

cdef enum:
    _WIDE_STORE = 2  # Cycles of a 256-bit store.


cdef class WideMemory(DispatchRule):
    """Two loads do not leave together if one is 256 bits wide; a 256-bit store takes the next cycle too."""

    cdef Tables tables
    cdef Program program
    cdef int _one
    cdef int _other
    cdef int _data
    cdef int _busy  # Cycles for which the store-data unit is busy.
    cdef int _wide  # The store that occupies it.

    def __init__(self, Tables tables, microarchitecture):
        units = microarchitecture.units
        self.tables = tables
        self.program = tables.program
        loads = units.numbers(units.having(Role.LOAD))
        self._one = loads[0]
        self._other = loads[1]
        self._data = units.numbers(units.having(Role.STORE_DATA))[0]

    cdef void start(self) noexcept nogil:
        """Reset: no uop was dispatched."""
        self._busy = 0
        self._wide = NONE

    cdef int held_back(self, SequenceQueues ready) noexcept nogil:
        """The store-data unit while it is busy, and the unit of the younger of two loads."""
        cdef BlockUop *block_uop
        held = 1 << self._data if self._busy else 0
        if self._busy and ready.counts[self._data] > 0:
            self.tables.queue(ready.oldest(self._data), QUEUED_FOR_PAIR, self._wide)
        if ready.counts[self._one] == 0 or ready.counts[self._other] == 0:
            return held
        first = ready.oldest(self._one)
        second = ready.oldest(self._other)
        one = self.tables.uop[first].static
        block_uop = &self.program.uop[one]
        other = self.tables.uop[second].static
        if (
            block_uop.kind == LOAD
            and self.program.uop[other].kind == LOAD
            and (block_uop.wide or self.program.uop[other].wide)
        ):
            self.tables.queue(max(first, second), QUEUED_FOR_PAIR, min(first, second))
            held |= 1 << (self._other if first < second else self._one)
        return held

    cdef void left(self, int uop, int unit) noexcept nogil:
        """Called when a uop was dispatched to this unit."""
        if unit == self._data and self.program.uop[self.tables.uop[uop].static].wide:
            self._busy = _WIDE_STORE
            self._wide = uop

    cdef void pass_by(self, int cycles) noexcept nogil:
        """Skip this many cycles."""
        self._busy = max(0, self._busy - cycles)

    cdef int record(self, Record state) except -1 nogil:
        """Record this part of the pipeline's state."""
        state.add(self._busy)
