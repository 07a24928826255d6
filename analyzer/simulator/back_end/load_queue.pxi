# The load queue: its entries are freed in order, some time after the load was picked (M29).

cdef enum:
    _QUEUED_LOADS = 1 << 8


@cython.final
cdef class LoadQueue:
    """The loads from dispatch until their entries are free."""

    cdef Tables tables
    cdef Program program
    cdef int _entries  # 0: no limit.
    cdef int _held
    cdef int[::1] _uops  # A ring.
    cdef int _first
    cdef int _end

    def __init__(self, Tables tables, rules):
        self.tables = tables
        self.program = tables.program
        self._entries = 0 if rules is None else rules.entries
        self._held = 0 if rules is None else rules.held
        if self._entries >= _QUEUED_LOADS // 2:
            raise ValueError(f"a load queue has {self._entries} entries; there is room for fewer")
        self._uops = ints(_QUEUED_LOADS)

    cdef void start(self) noexcept nogil:
        """Reset to empty."""
        self._first = self._end = 0

    cdef bint has_room(self, int first, int i, int cycle) noexcept nogil:
        """Whether the loads among the uops of an instruction find room."""
        cdef int loads
        if self._entries == 0:
            return True
        loads = 0
        for uop in range(first, first + self.program.instruction[i].uop_count):
            loads += self.program.uop[self.tables.uop[uop].static].kind == LOAD
        if loads == 0:
            return True
        while self._first < self._end:
            picked = self.tables.uop[self.oldest()].dispatched
            if picked == UNKNOWN or picked + self._held > cycle:
                break
            self._first += 1
        # An instruction of more loads than there are entries goes alone.
        return self._first == self._end or self._end - self._first + loads <= self._entries

    cdef int oldest(self) noexcept nogil:
        """The load whose entry is freed next; the queue must not be empty."""
        return self._uops[self._first & (_QUEUED_LOADS - 1)]

    cdef void enter(self, int uop) noexcept nogil:
        """A load is dispatched."""
        if self._entries:
            self._uops[self._end & (_QUEUED_LOADS - 1)] = uop
            self._end += 1

    cdef int record(self, Record state) except -1 nogil:
        """Record this part of the pipeline's state."""
        if self._entries == 0:
            return 0
        state.add(self._end - self._first)
        for place in range(self._first, self._end):
            uop = self._uops[place & (_QUEUED_LOADS - 1)]
            state.add(uop - state.uop)
            state.add_time(self.tables.uop[uop].dispatched, self._held)
            if state.differs:
                return 0
