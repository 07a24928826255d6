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
    cdef int start(self) except -1
    cdef inline int reserve(self) except -1:
        if self.last_round + 16 > len(self.key_cycle):
            self.grow(2 * (self.last_round + 16))
    cdef int grow(self, int rounds) except -1
    cdef inline bint full(self) noexcept:
        return self.entries.count > self._limit
    cdef int next_retirement(self, int cycle) noexcept
    cdef void tick(self, int cycle) noexcept
    cdef int repeat(self, int first_round, int period_rounds, int period_cycles, int min_rounds, int min_cycles) except? -1
    cpdef double cycles_per_round(self, int first, int last) noexcept
    @cython.locals(place=cython.longlong, waits=cython.bint)
    cdef int record(self, Record state) except -1
    cdef bint _may_commit(self, CommitRule commit, int first, int end) noexcept
    cdef void look(self, int cycle) noexcept
    cdef int _unfinished(self, int first, int end, int cycle) noexcept
