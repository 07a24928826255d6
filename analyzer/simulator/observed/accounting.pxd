# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.program cimport Program

cdef int HELD_BY_DIVIDER
cdef int HELD_BY_FENCE
cdef int HELD_BY_UNIT
cdef int ISSUE_GROUP
cdef int LOAD
cdef int MOST_UNITS
cdef int NONE
cdef int QUEUED_FOR_DIVIDER
cdef int RETIRING
cdef int RS_FULL
cdef int SCHEDULERS
cdef int _CAUSE_COUNT
cdef int _DEPENDENCY
cdef int _DIVIDER
cdef int _FENCE
cdef int _PORT
cdef int _REASON_COUNT
cdef int _RETIREMENT
cdef int _SATURATED
cdef int _UNIT


@cython.final
cdef class Accounting:
    cdef Columns _columns
    cdef Program _program
    cdef int _width
    cdef public int[::1] used
    cdef public int[::1] lost
    cdef int[::1] _heads
    cdef int[::1] _taken
    cdef public int[::1] busy
    cdef int[::1] _why
    cdef int[::1] _whom
    cdef int[::1] _seen
    cdef int tally(self, int begin, int end) except? -1
    cdef void _count_uops(self, int begin, int end) noexcept
    cdef int _cause(self, int cycle) noexcept
    cdef int _lost(self, int cause, int instruction) noexcept
    cdef int _reason(self, int buffer, int uop) noexcept
    cdef void _trace_back(self, int origin) noexcept
    cdef int _producer(self, int uop) noexcept
