# Ice Lake and its descendants: two stores leave together only for the same cache line (Z1).

cdef enum:
    _LINE_BYTES = 64


cdef class StorePairs(DispatchRule):
    """Of two stores that are not known to lie within the length of a line the younger one waits."""

    cdef Tables tables
    cdef Program program
    cdef int _one
    cdef int _other

    def __init__(self, Tables tables, microarchitecture):
        units = microarchitecture.units
        self.tables = tables
        self.program = tables.program
        numbers = units.numbers(units.having(Role.STORE_DATA))
        self._one = numbers[0]
        self._other = numbers[1]

    cdef int held_back(self, SequenceQueues ready) noexcept nogil:
        """The unit of the younger of two stores that may not leave together."""
        if ready.counts[self._one] == 0 or ready.counts[self._other] == 0:
            return 0
        first = ready.oldest(self._one)
        second = ready.oldest(self._other)
        if (
            self._stores(first)
            and self._stores(second)
            and not self._may_pair(self.tables.uop[first].store, self.tables.uop[second].store)
        ):
            self.tables.queue(max(first, second), QUEUED_FOR_PAIR, min(first, second))
            return 1 << (self._other if first < second else self._one)
        return 0

    cdef bint _stores(self, int uop) noexcept nogil:
        """Whether it is the data of a store whose address is known."""
        cdef BlockUop *static = &self.program.uop[self.tables.uop[uop].static]
        return static.kind == STORE_DATA and static.has_address

    cdef bint _may_pair(self, int one, int other) noexcept nogil:
        """Whether both have the same address expression and displacements that differ by less than a line.
        If addresses are sums, the base includes the displacement, and its origin does not matter."""
        cdef StoreEntry *store = &self.tables.store[one]
        cdef long long between, bases
        between = store.displacement - self.tables.store[other].displacement
        bases = store.base - self.tables.store[other].base
        if self.program.exact_values:
            between += bases
            bases = 0
        return (
            bases == 0
            and store.index == self.tables.store[other].index
            and store.scale == self.tables.store[other].scale
            and abs(between) < _LINE_BYTES
        )
