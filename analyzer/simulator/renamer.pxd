from cyclelens.analyzer.simulator.arrays cimport PairQueue
from cyclelens.analyzer.simulator.columns cimport Columns
from cyclelens.analyzer.simulator.memory cimport Memory
from cyclelens.analyzer.simulator.move_elimination cimport MoveElimination
from cyclelens.analyzer.simulator.program cimport Program

cdef int ELIMINATED, LOAD, NONE, STORE_ADDRESS, STORE_DATA, SYNC, UNKNOWN


cdef class Renamer:
    cdef Columns _columns
    cdef Program _program
    cdef PairQueue _idq
    cdef PairQueue _issued
    cdef Memory _memory
    cdef int _width
    cdef bint _fast_pointer_chasing
    cdef public MoveElimination elimination
    cdef public int merged_for
    cdef public int open_store
    cdef public int[::1] value
    cdef public int[::1] moved_32
    cdef public int[::1] internal
    cdef public int writes
    cdef public int[::1] write_key
    cdef public int[::1] write_value
    cdef public int[::1] write_computed
    cdef public int writes_moved_32
    cpdef void tick(self, int cycle, bint rob_empty)
    cdef void _select(self, bint rob_empty)
    cdef void _eliminate(self, int cycle)
    cdef void _rename(self, int uop, int cycle)
    cdef int _current(self, int key)
    cdef void _write(self, int key, int value, int computed)
    cdef void _rename_eliminated(self, int i)
    cdef void _connect(self, int uop, int static)
    cdef void _make_visible(self, int i, bint eliminated)
    cdef bint _chases_pointer(self, int static)
