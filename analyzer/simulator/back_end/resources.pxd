# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.arrays cimport PairQueue, Record
from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.program cimport Program

cdef int ELIMINATED
cdef int LOAD
cdef int NONE
cdef int STORE_ADDRESS
cdef int UNKNOWN
cdef int _ALL_REGISTERS
cdef int _BRANCH_BUFFER
cdef int _COUNT
cdef int _INTEGER_REGISTERS
cdef int _LOAD_BUFFER
cdef int _LOAD_MATRIX
cdef int _STORE_BUFFER
cdef int _UNLIMITED


@cython.final
cdef class Resources:
    cdef Columns _columns
    cdef Program _program
    cdef bint _wanted
    cdef int _rob_size
    cdef int _load_matrix
    cdef public bint limited
    cdef public int missing
    cdef int[::1] _sizes
    cdef public int[::1] used
    cdef int[::1] _needs
    cdef int[::1] _active
    cdef int _active_count
    cdef int _retiring_count
    cdef int[::1] _needy
    cdef PairQueue _holders
    cdef int[::1] _loads
    cdef inline int start(self) except -1:
        self.limited = self._wanted
        if self.limited:
            self._find_limits()
    cdef int _find_limits(self) except -1
    cdef void _count_needs(self, int i) noexcept
    cdef void _find_active(self, int rob_size) noexcept
    cdef bint take(self, int first, int cycle) noexcept
    cdef inline bint comes_with_retirement(self) noexcept:
        return self.missing != 6
    cdef inline void eliminate(self, int i) noexcept:
        self._give_back(i)
    cdef inline int record(self, Record state) except -1:
        self._release()
        for resource in range(6):
            state.add(self.used[resource])
        holders = self._holders
        for position in range(holders.count):
            first = holders.firsts[holders.head + position & holders.mask]
            state.add(1 if self._columns.port[first] == -2 else 0)
    cdef int _missing(self, int i) noexcept
    cdef void _release(self) noexcept
    cdef void _give_back(self, int i) noexcept
    cdef void _release_loads(self, int cycle) noexcept
