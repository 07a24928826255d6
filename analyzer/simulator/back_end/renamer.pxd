# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.back_end.addition cimport Addition
from cyclelens.analyzer.simulator.back_end.elimination cimport Elimination
from cyclelens.analyzer.simulator.back_end.issue_group cimport IssueGroup
from cyclelens.analyzer.simulator.back_end.memory cimport Memory
from cyclelens.analyzer.simulator.back_end.memory_renaming cimport MemoryRenaming
from cyclelens.analyzer.simulator.tables.arrays cimport PairQueue, Record
from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.program cimport Program

cdef int COMPUTE
cdef int ELIMINATED
cdef int FOREVER
cdef int LOAD
cdef int NONE
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
    cdef PairQueue _bound
    cdef PairQueue _free
    cdef IssueGroup _group
    cdef Memory _memory
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
    cdef int[::1] _plain
    cdef int[::1] _ends
    cdef int[::1] _moves
    cdef bint _direct
    cdef public int writes
    cdef public int writes_moved_32
    cdef public int open_store
    cdef public int taken_over
    cdef public bint between_instructions
    cdef int start(self) except -1
    cdef void _find_plain(self) noexcept
    cdef inline void stand(self, int cycle) noexcept:
        self._bound.clear()
        self._free.clear()
        self._group.stand(cycle)
    cdef void tick(self, int cycle) noexcept
    cdef inline bint held(self) noexcept:
        return self._group.held
    cdef inline void pass_by(self, int cycles) noexcept:
        if self._program.has_moves:
            self.elimination.pass_by(cycles)
    @cython.locals(waits=cython.bint)
    cdef int record(self, Record state) except -1
    cdef void _eliminate(self) noexcept
    @cython.locals(eliminated=cython.bint)
    cdef void _rename(self, int uop, int static, int cycle) noexcept
    cdef int _current(self, int key) noexcept
    cdef void _write(self, int key, int value, int computed, int owed) noexcept
    cdef void _rename_eliminated(self, int i) noexcept
    cdef void _rename_added(self, int i, int static) noexcept
    @cython.locals(shared=cython.longlong)
    cdef void _connect(self, int uop, int static) noexcept
    @cython.locals(shared=cython.longlong)
    cdef void _make_visible(self, int i, bint eliminated) noexcept
    cdef bint _chases_pointer(self, int static) noexcept
