# Memory renaming: in a loop a load takes over the value of a store in flight with latency 0 (W6).

cdef enum:
    # Extra cycles of forwarding: for data computed in one or two cycles, and for a sum that the
    # renamer still owes or a vector that was loaded.
    _SOON = 1
    _LATER = 2
    # From this latency of the producer on, there are no extra cycles: the load is still waiting
    # then.
    _SLOW = 3
    _NOT_A_PAIR = NONE - 1  # Marks a store whose data no load can take over.
    _WHOLE = 8  # Bytes of a register.
    _WORD = 2  # The only register width, in bytes, that is not renamed.


cdef class LearntPairs(MemoryRenaming):
    """The core learns pairs of load and store by the addresses of the instructions, so copies of the code
    learn nothing. Vectors and 16-bit words are forwarded. As far as is known, so are loads with an index in
    the address and loads that share a scheduler entry with an operation of two other inputs."""

    def __init__(self, Tables tables):
        super().__init__(tables)
        self.active = True

    cdef void stored(self, int place, int row, int key, int owed) noexcept nogil:
        """A store's data are renamed: notes if forwarding is delayed, or if no load can take the value
        over."""
        cdef StoreEntry *store = &self.tables.store[place]
        cdef Value *value = &self.tables.value[row]
        cdef bint vector, computed
        vector = key != NONE and self.program.key_class[key] == SIMD_CLASS
        store.value = _NOT_A_PAIR if vector else row
        producer = value.uop
        computed = producer != NONE and self.program.uop[self.tables.uop[producer].static].kind == COMPUTE
        if owed or (vector and not computed):
            store.late = _LATER
        elif computed and value.latency < _SLOW:
            store.late = _SOON

    cdef int value(self, int uop, int i, int place) noexcept nogil:
        """The row of the value that a load takes over from this store, NONE if it has to load."""
        cdef StoreEntry *store = &self.tables.store[place]
        static = self.tables.uop[uop].static
        loaded = self.program.uop[static].bytes
        stored = store.bytes
        if (
            not self.program.loop
            or not self.program.instruction[i].takes_over
            or self.tables.shares_slot(uop)
            or loaded > stored
            # A truncated sum is not a register plus a constant that is owed.
            or (loaded < _WHOLE and store.late == _LATER)
            or loaded == _WORD
            or stored == _WORD
        ):
            return NONE
        value = store.value
        if value == _NOT_A_PAIR:
            return NONE
        return self.tables.old_value(0) if value == NONE else value


cdef class LearntLoads(LearntPairs):
    """The same of plain loads and of operations that read nothing else (Ice Lake)."""

    cdef int value(self, int uop, int i, int place) noexcept nogil:
        if not self.program.instruction[i].stands_alone:
            return NONE
        return LearntPairs.value(self, uop, i, place)
