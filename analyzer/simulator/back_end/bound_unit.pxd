# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.back_end.dispatch_rule cimport DispatchRule
from cyclelens.analyzer.simulator.back_end.picker cimport Picker
from cyclelens.analyzer.simulator.tables.arrays cimport Record, SequenceQueues
from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.entries cimport Entries
from cyclelens.analyzer.simulator.tables.program cimport Program

cdef int NEVER
cdef int NONE
cdef int QUEUED_FOR_DIVIDER
cdef int QUEUED_FOR_PORT


cdef class BoundUnit(Picker):
    cdef Columns _columns
    cdef Program _program
    cdef Entries _entries
    cdef int[::1] _usage
    cdef DispatchRule _rule
    cdef int _units
    cdef int _dividers
    cdef SequenceQueues _queues
    cdef int[::1] _divider_of
    cdef int[::1] _leaves_through
    cdef int _through
    cdef int[::1] _latest
    cdef int[::1] _latest_division
    cdef int[::1] _blocked
    cdef int _ready
    cdef int _filled
    cdef int _dividing
    cdef int _busy_dividers
    cdef int start(self, int most) except -1
    cdef void admit(self, int first) noexcept
    cdef void tick(self, int cycle) noexcept
    cdef int next_event(self, int cycle) noexcept
    cdef void skip(self, int cycles) noexcept
    cdef int record(self, Record state) except -1
    @cython.locals(divides=cython.bint)
    cdef void _dispatch(self, int cycle) noexcept
    cdef bint _divide(self, int unit, int cycle) noexcept
    cdef bint _was_busy(self, int divider, int cycle) noexcept
    cdef void _leave(self, int uop, int unit, int cycle) noexcept


cdef class EveryReady(BoundUnit):
    cdef int _memory
    cdef int[::1] _unbound
    cdef int _unbound_count
    cdef int start(self, int most) except -1
    cdef void admit(self, int first) noexcept
    cdef int next_event(self, int cycle) noexcept
    cdef void _dispatch(self, int cycle) noexcept
