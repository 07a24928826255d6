# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.back_end.picker cimport Picker
from cyclelens.analyzer.simulator.tables.arrays cimport Record
from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.in_flight cimport InFlight
from cyclelens.analyzer.simulator.tables.operations cimport Operations
from cyclelens.analyzer.simulator.tables.program cimport Program

cdef int ELIMINATED
cdef int EMPTY
cdef int NONE
cdef int STORE_ADDRESS
cdef int STORE_DATA
cdef int UNKNOWN
cdef int _BLOCKED
cdef int _FP_ADD
cdef int _RING
cdef int _SETTLED
cdef int _TAKES_FP_ADD
cdef int _THERE
cdef int _VECTOR


@cython.final
cdef class MacroScheduler:
    cdef Columns _columns
    cdef Program _program
    cdef Operations _operations
    cdef InFlight _flight
    cdef Picker _picker
    cdef int _size
    cdef int _delay
    cdef int _failed
    cdef int _failed_vector
    cdef int[::1] _ring
    cdef int[::1] _blocked
    cdef int _blocked_count
    cdef inline int start(self) except -1:
        for slot in range(4096):
            self._ring[slot] = -1
        self._blocked_count = 0
        self._picker.start(self._size)
    cdef inline void tick(self, int cycle) noexcept:
        self._accept(cycle)
        slot = cycle & 4096 - 1
        uop = self._ring[slot]
        self._ring[slot] = -1
        if uop != -1:
            self._picker.admit(uop)
        if self._blocked_count:
            self._unblock(cycle)
        self._picker.tick(cycle)
        for place in range(self._picker.count):
            self._finish(self._picker.dispatched[place], cycle)
    cdef inline bint waits(self, int cycle) noexcept:
        return self._picker.next_event(cycle) > cycle + 1
    cdef inline int next_event(self, int cycle) noexcept:
        following = self._picker.next_event(cycle)
        for ahead in range(1, 4096):
            if self._ring[cycle + ahead & 4096 - 1] != -1:
                return min(following, cycle + ahead)
        return following
    cdef void record(self, Record state, int first, int end) except *
    cdef void _record_waiting(self, Record state, int uop, int static) except *
    cdef void _accept(self, int cycle) noexcept
    @cython.locals(adds=cython.bint)
    cdef void _become_ready(self, int uop, int cycle, int ready) noexcept
    cdef void _schedule(self, int uop, int ready, int cycle) noexcept
    cdef void _unblock(self, int cycle) noexcept
    cdef void _finish(self, int uop, int cycle) noexcept
    cdef void _known(self, int value, int ready, int cycle) noexcept
