# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.back_end.fences cimport Fences
from cyclelens.analyzer.simulator.tables.arrays cimport PairQueue, Record, SequenceHeaps
from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.program cimport Program

cdef int ELIMINATED
cdef int FOREVER
cdef int HELD_BY_FENCE
cdef int HELD_BY_UNIT
cdef int LOAD
cdef int MOST_UNITS
cdef int NONE
cdef int STORE_ADDRESS
cdef int STORE_DATA
cdef int UNKNOWN
cdef int _ADDRESS_KNOWN
cdef int _CANDIDATES
cdef int _DATA_KNOWN
cdef int _DIVIDERS
cdef int _FORWARDING
cdef int _HELD
cdef int _MIN_EXECUTION
cdef int _PAIRED_STORE_BYTES
cdef int _QUEUES


@cython.final
cdef class Scheduler:
    cdef Columns _columns
    cdef Program _program
    cdef PairQueue _issued
    cdef int[::1] _usage
    cdef int _size
    cdef int _issue_width
    cdef int _delay
    cdef int _ports
    cdef bint _slow_256_bit
    cdef bint _pairs_stores
    cdef int _load
    cdef int _other_load
    cdef int _data
    cdef int _other_data
    cdef int _dividers
    cdef int[::1] _divider_of
    cdef int[::1] _leaves_through
    cdef int _failed_forwarding
    cdef public Fences fences
    cdef SequenceHeaps _queues
    cdef int[::1] _dispatched
    cdef PairQueue _checks
    cdef int _rob_size
    cdef int[::1] _blocked
    cdef int[::1] _ring
    cdef public int[::1] tp_blocked
    cdef public int[::1] divider_blocked
    cdef public int occupancy
    cdef int _ring_mask
    cdef int _ready
    cdef int _busy_dividers
    cdef int _dividing
    cdef public int store_data_blocked
    cdef public int dispatched_count
    cdef int _blocked_count
    cpdef int start(self) except -1
    cdef bint full(self) noexcept
    cdef bint waits(self) noexcept
    cdef int next_ready(self, int cycle) noexcept
    cdef void skip(self, int cycles) noexcept
    cdef void _count_down(self, int cycles) noexcept
    cdef void wake(self, int cycle) noexcept
    cdef void tick(self, int cycle) noexcept
    cdef int record(self, Record state) except -1
    cdef void _accept(self) noexcept
    cdef void _dispatch(self, int cycle) noexcept
    cdef bint _divide(self, int port, int cycle) noexcept
    cdef void _leave(self, int uop, int cycle) noexcept
    cdef int _skipped_port(self) noexcept
    cdef bint _may_pair(self, int one, int other) noexcept
    cdef void _complete(self, int cycle) noexcept
    cdef void _unblock(self) noexcept
    cdef bint _store_known(self, int store) noexcept
    cdef int _forwarded(self, int store) noexcept
    cdef void _forward(self, int store) noexcept
    cdef void _finish(self, int uop, int dispatched, int earliest) noexcept
    @cython.locals(limited=cython.bint, blocked=cython.bint)
    cdef void _check_special(self, int cycle) noexcept
    cdef void _fix(self, int uop, int cycle) noexcept
