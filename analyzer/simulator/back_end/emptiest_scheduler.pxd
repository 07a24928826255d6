# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.back_end.chance cimport Chance
from cyclelens.analyzer.simulator.back_end.scheduler_choice cimport SchedulerChoice
from cyclelens.analyzer.simulator.tables.arrays cimport PairQueue, Record
from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.in_flight cimport InFlight

cdef int NONE
cdef int RS_FULL
cdef int SCHEDULERS
cdef int UNKNOWN
cdef int _ADDRESSES
cdef int _IMBALANCE
cdef int _INTEGERS
cdef int _KINDS
cdef int _OTHERS
cdef int _UNBOUNDED


cdef class EmptiestScheduler(SchedulerChoice):
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
    cdef void start(self) noexcept
    cdef int record(self, Record state) except -1
    cdef bint have_room(self, int mask, int uops) noexcept
    cdef void enter(self, int uop, int mask) noexcept
    cdef void refuse(self, int cycle, int mask) noexcept
    cdef int _oldest_waiting(self, int mask) noexcept
    cdef int _choose(self, int mask, int room) noexcept
    cdef int _waiting(self, int scheduler, int mask) noexcept
    cdef int _kind(self, int mask) noexcept


cdef class FirstScheduler(EmptiestScheduler):
    cdef void enter(self, int uop, int mask) noexcept


cdef class AnyScheduler(EmptiestScheduler):
    cdef void enter(self, int uop, int mask) noexcept


cdef class ChanceScheduler(EmptiestScheduler):
    cdef Chance _chance
    cdef bint _enters
    cdef void start(self) noexcept
    cdef int record(self, Record state) except -1
    cdef void enter(self, int uop, int mask) noexcept
    @cython.locals(emptiest=cython.int)
    cdef int _choose(self, int mask, int room) noexcept
