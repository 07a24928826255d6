# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.back_end.elimination cimport Elimination
from cyclelens.analyzer.simulator.back_end.emulator cimport Emulator
from cyclelens.analyzer.simulator.back_end.late_operands cimport LateOperands
from cyclelens.analyzer.simulator.back_end.macro_memory cimport MacroMemory
from cyclelens.analyzer.simulator.back_end.scheduler_choice cimport SchedulerChoice
from cyclelens.analyzer.simulator.tables.arrays cimport PairQueue, Record
from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.in_flight cimport InFlight
from cyclelens.analyzer.simulator.tables.operations cimport Operations
from cyclelens.analyzer.simulator.tables.program cimport Program
from cyclelens.analyzer.simulator.tables.queues cimport Shortage

cdef int ELIMINATED
cdef int EMPTY
cdef int HELD_BY_FENCE
cdef int ISSUE_GROUP
cdef int LOAD
cdef int NONE
cdef int ROB_FULL
cdef int SERIALIZATION
cdef int STORE_ADDRESS
cdef int STORE_BUFFER_FULL
cdef int STORE_DATA
cdef int UNKNOWN
cdef int _LONG_AGO
cdef int _ROOM_STORES


@cython.final
cdef class MacroRenamer:
    cdef Columns _columns
    cdef Program _program
    cdef Operations _operations
    cdef InFlight _flight
    cdef MacroMemory _memory
    cdef Emulator _emulator
    cdef Elimination _elimination
    cdef SchedulerChoice _schedulers
    cdef LateOperands _late_operands
    cdef PairQueue _idq
    cdef PairQueue _issued
    cdef PairQueue _rob
    cdef Shortage _shortage
    cdef int _width
    cdef int _rob_size
    cdef int _vector_width
    cdef int _store_size
    cdef int _crossing
    cdef public int[::1] value
    cdef public int[::1] internal
    cdef public int[::1] write_key
    cdef public int[::1] write_value
    cdef public int writes
    cdef public int left
    cdef int _next_fused
    cdef int _next_uop
    cdef public int dispatched
    cdef bint _starved
    cdef int start(self) except -1
    cdef inline void tick(self, int cycle) noexcept:
        self._issued.clear()
        if not self._program.has_moves:
            self._dispatch(cycle)
            return
        self._elimination.start_cycle()
        self._dispatch(cycle)
        self._elimination.decided()
        self._elimination.end_cycle()
    cdef inline bint waits(self) noexcept:
        return not self._starved or self._idq.count == 0
    cdef inline void pass_by(self, int cycles) noexcept:
        if self._program.has_moves:
            self._elimination.pass_by(cycles)
    cdef void _dispatch(self, int cycle) noexcept
    cdef void _time(self, int uop, int fused, int count, int slots, int cycle) noexcept
    @cython.locals(room=cython.int)
    cdef bint _has_room(self, int first, int i, int count, int cycle) noexcept
    cdef void _wait_for_retirement(self, int cycle, int buffer) noexcept
    cdef void _rename(self, int first, int i, int cycle) noexcept
    cdef void _rename_uop(self, int uop, int static, int cycle) noexcept
    cdef int _add_input(self, int uop, int value) noexcept
    cdef int _current(self, int key) noexcept
    cdef int _address_part(self, int key) noexcept
    cdef void _write(self, int key, int value) noexcept
    cdef void record(self, Record state) except *
    cdef void _record_value(self, Record state, int value) except *
