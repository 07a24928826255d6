# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.back_end.commit_rule cimport CommitRule
from cyclelens.analyzer.simulator.tables.arrays cimport PairQueue, Record
from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.program cimport Program

cdef int NONE
cdef int STORE_DATA
cdef int UNKNOWN
cdef int _LONG_AGO
cdef int _LONG_WINDOW
cdef int _MARGIN
cdef int _POSITION_TRIES
cdef int _SETTLED
cdef int _STEP
cdef int _TIME


@cython.final
cdef class ReorderBuffer:
    cdef Columns _columns
    cdef Program _program
    cdef PairQueue _issued
    cdef CommitRule _commit
    cdef int _size
    cdef int _limit
    cdef int _retire_width
    cdef int _issued_long_ago
    cdef public PairQueue entries
    cdef public int[::1] key_cycle
    cdef public int[::1] first_cycle
    cdef public int[::1] key_position
    cdef public int last_round
    cdef int _filled
    cdef int _last_first
    cdef public int key_rounds
    cdef public int retired
    cdef inline int start(self) except -1:
        self.entries.start(self._size + 64)
        for round_number in range(max(self.last_round + 1, self._filled)):
            self.key_cycle[round_number] = 0
            self.first_cycle[round_number] = 0
            self.key_position[round_number] = 0
        self._filled = 0
        self.last_round = -1
        self._last_first = -1
        self.key_rounds = 0
        self.retired = 0
    cdef inline int reserve(self) except -1:
        if self.last_round + 16 > len(self.key_cycle):
            self.grow(2 * (self.last_round + 16))
    cdef int grow(self, int rounds) except -1
    cdef inline bint full(self) noexcept:
        return self.entries.count > self._limit
    cdef inline int next_retirement(self, int cycle) noexcept:
        entries = self.entries
        if entries.count == 0:
            return -1
        first = entries.firsts[entries.head]
        latest = cycle
        for uop in range(first, first + entries.seconds[entries.head]):
            executed = self._columns.executed[uop]
            if executed == -2:
                return -1
            if executed > latest:
                latest = executed
        return latest + 1
    cdef void tick(self, int cycle) noexcept
    cdef int repeat(self, int first_round, int period_rounds, int period_cycles, int min_rounds, int min_cycles) except? -1
    cpdef double cycles_per_round(self, int first, int last) noexcept
    cdef void record(self, Record state) except *
    @cython.locals(place=cython.longlong, waits=cython.bint)
    cdef int _record_uops(self, Record state, int first, int end) except -1
    cdef bint _may_commit(self, CommitRule commit, int first, int end) noexcept
    cdef inline void look(self, int cycle) noexcept:
        entries = self.entries
        unfinished = -1
        if entries.count > 0:
            first = entries.firsts[entries.head]
            unfinished = self._unfinished(first, first + entries.seconds[entries.head], cycle)
        self._columns.unfinished[cycle] = unfinished
    cdef int _unfinished(self, int first, int end, int cycle) noexcept
