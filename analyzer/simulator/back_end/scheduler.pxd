# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.back_end.fences cimport Fences
from cyclelens.analyzer.simulator.back_end.picker cimport Picker
from cyclelens.analyzer.simulator.tables.arrays cimport PairQueue, Record, SequenceQueues
from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.program cimport Program

cdef int FOREVER
cdef int HELD_BY_DIVIDER
cdef int HELD_BY_FENCE
cdef int HELD_BY_UNIT
cdef int LOAD
cdef int NONE
cdef int STORE_ADDRESS
cdef int STORE_DATA
cdef int UNKNOWN
cdef int _ADDRESS_KNOWN
cdef int _CANDIDATES
cdef int _DATA_KNOWN
cdef int _FORWARDING
cdef int _HELD
cdef int _MIN_EXECUTION
cdef int _QUEUES


@cython.final
cdef class Scheduler:
    cdef Columns _columns
    cdef Program _program
    cdef PairQueue _bound
    cdef PairQueue _free
    cdef Picker _picker
    cdef int _size
    cdef int _issue_width
    cdef int _delay
    cdef int _failed_forwarding
    cdef int _late
    cdef public Fences fences
    cdef SequenceQueues _held
    cdef int[::1] _known
    cdef int _rob_size
    cdef int[::1] _blocked
    cdef int[::1] _ring
    cdef public int[::1] tp_blocked
    cdef int _ring_mask
    cdef int _known_count
    cdef int _blocked_count
    cdef bint _ended
    cdef int start(self) except -1
    cdef inline bint waits(self, int cycle) noexcept:
        return self._picker.next_event(cycle) > cycle + 1
    cdef inline int next_event(self, int cycle) noexcept:
        following = self._picker.next_event(cycle)
        if self._program.has_special:
            following = min(following, self._next_special(cycle))
        for ahead in range(1, self._ring_mask + 1):
            if self._ring[cycle + ahead & self._ring_mask] != -1:
                return min(following, cycle + ahead)
        return following
    cdef int _next_special(self, int cycle) noexcept
    cdef inline void skip(self, int cycles) noexcept:
        self._picker.skip(cycles)
        for name in range(self._program.tp_names):
            self.tp_blocked[name] = max(0, self.tp_blocked[name] - cycles)
    cdef inline void wake(self, int cycle) noexcept:
        slot = cycle & self._ring_mask
        first = self._ring[slot]
        if first != -1:
            self._ring[slot] = -1
            self._picker.admit(first)
    cdef void tick(self, int cycle) noexcept
    cdef inline int record(self, Record state) except -1:
        self._picker.record(state)
        for name in range(self._program.tp_names):
            state.add(self.tp_blocked[name])
        if self._program.has_fences:
            self.fences.loads.record(state)
            self.fences.stores.record(state)
    cdef void _finish_dispatched(self, int cycle) noexcept
    cdef void _unblock(self) noexcept
    cdef bint _store_known(self, int store) noexcept
    cdef int _forwarded(self, int store) noexcept
    cdef void _forward(self, int store) noexcept
    @cython.locals(loads=cython.bint)
    cdef void _finish(self, int uop, int dispatched, int earliest) noexcept
    cdef void _finish_computation(self, int uop, int static, int cycle) noexcept
    cdef void _announce(self, int value, int ready) noexcept
    @cython.locals(limited=cython.bint, blocked=cython.bint)
    cdef void _check_special(self, int cycle) noexcept
    cdef int _occupied(self, int i) noexcept
    cdef void _fix(self, int uop, int cycle) noexcept
    cdef int _last_input(self, int uop, int latest) noexcept
