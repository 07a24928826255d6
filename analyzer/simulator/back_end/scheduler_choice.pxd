# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.arrays cimport PairQueue, Record
from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.in_flight cimport InFlight

cdef int NONE
cdef int RS_FULL
cdef int SCHEDULERS
cdef int UNKNOWN
cdef int _ADDRESSES
cdef int _INTEGERS
cdef int _KINDS
cdef int _OTHERS
cdef int _UNBOUNDED


@cython.final
cdef class SchedulerChoice:
    cdef Columns _columns
    cdef PairQueue _issued
    cdef PairQueue _entries
    cdef InFlight _flight
    cdef tuple _names
    cdef int _count
    cdef int[::1] _turns
    cdef int[::1] _sizes
    cdef int[::1] _feeds
    cdef int _vector_units
    cdef int _address_units
    cdef int _alus
    cdef inline void start(self) noexcept:
        for kind in range(3):
            self._turns[kind] = 0
    cdef inline int record(self, Record state) except -1:
        for kind in range(3):
            state.add(self._turns[kind] % self._count)
    cdef inline bint have_room(self, int mask, int uops) noexcept:
        return self._choose(mask, uops) != -1
    cdef void enter(self, int uop, int mask) noexcept
    cdef inline void refuse(self, int cycle, int mask) noexcept:
        uop = self._oldest_waiting(mask)
        which = self._flight.u_scheduler[uop & self._flight.uop_mask]
        self._columns.refuse(cycle, 13 + 64 * (1 + which), uop)
    cdef int _oldest_waiting(self, int mask) noexcept
    cdef int _choose(self, int mask, int room) noexcept
    cdef int _kind(self, int mask) noexcept
