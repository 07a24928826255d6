# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.back_end.addition cimport Addition
from cyclelens.analyzer.simulator.back_end.elimination cimport Elimination
from cyclelens.analyzer.simulator.back_end.memory cimport Memory
from cyclelens.analyzer.simulator.back_end.memory_renaming cimport MemoryRenaming
from cyclelens.analyzer.simulator.back_end.resources cimport Resources
from cyclelens.analyzer.simulator.tables.arrays cimport PairQueue, Record
from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.entries cimport Entries
from cyclelens.analyzer.simulator.tables.program cimport Program
from cyclelens.analyzer.simulator.tables.queues cimport Shortage

cdef int COMPUTE
cdef int ELIMINATED
cdef int HELD_BY_FENCE
cdef int ISSUE_GROUP
cdef int LOAD
cdef int NONE
cdef int REGISTER_MERGE
cdef int RESOURCE_FULL
cdef int RETIRING
cdef int ROB_FULL
cdef int RS_FULL
cdef int SCHEDULERS
cdef int SERIALIZATION
cdef int STORE_ADDRESS
cdef int STORE_DATA
cdef int SYNC
cdef int UNKNOWN
cdef int _SETTLED


@cython.final
cdef class Renamer:
    cdef Columns _columns
    cdef Program _program
    cdef PairQueue _idq
    cdef PairQueue _issued
    cdef PairQueue _rob
    cdef Shortage _shortage
    cdef Memory _memory
    cdef Resources _resources
    cdef Entries _entries
    cdef int _width
    cdef bint _fast_pointer_chasing
    cdef public Elimination elimination
    cdef public Addition additions
    cdef public MemoryRenaming memory_renaming
    cdef public int[::1] value
    cdef public int[::1] moved_32
    cdef public int[::1] internal
    cdef public int[::1] write_key
    cdef public int[::1] write_value
    cdef public int[::1] write_computed
    cdef public int[::1] write_owed
    cdef public int writes
    cdef public int writes_moved_32
    cdef public int merged_for
    cdef public int open_store
    cdef public int taken_over
    cdef public bint between_instructions
    cdef int start(self) except -1
    cdef void stand(self, int cycle) noexcept
    cdef void tick(self, int cycle) noexcept
    @cython.locals(waits=cython.bint)
    cdef int record(self, Record state) except -1
    cdef void _starve(self, int cycle) noexcept
    cdef void _full(self, int cycle) noexcept
    cdef int _oldest_waiting(self) noexcept
    cdef void _wait_for_retirement(self, int cycle, int buffer) noexcept
    cdef void _select(self, int cycle) noexcept
    cdef void _eliminate(self) noexcept
    @cython.locals(eliminated=cython.bint)
    cdef void _rename(self, int uop, int cycle) noexcept
    cdef int _current(self, int key) noexcept
    cdef void _write(self, int key, int value, int computed, int owed) noexcept
    cdef void _rename_eliminated(self, int i) noexcept
    cdef void _rename_added(self, int i, int static) noexcept
    cdef void _connect(self, int uop, int static) noexcept
    @cython.locals(shared=cython.bint)
    cdef void _make_visible(self, int i, bint eliminated) noexcept
    cdef bint _chases_pointer(self, int static) noexcept
