# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.back_end.emulator cimport Emulator
from cyclelens.analyzer.simulator.back_end.macro_memory cimport MacroMemory
from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.operations cimport Operations
from cyclelens.analyzer.simulator.tables.program cimport Program

cdef int CODE_LINE
cdef int LOAD
cdef int STORE_ADDRESS
cdef int _BEGINS
cdef int _COVERED
cdef int _PARTLY
cdef int _TRIES


@cython.final
cdef class Replay:
    cdef Columns _columns
    cdef Program _program
    cdef Operations _operations
    cdef MacroMemory _memory
    cdef Emulator _emulator
    cdef int _reach
    cdef bint _by_chunks
    cdef int _mask
    cdef long long[::1] _bases
    cdef int[::1] _bytes
    cdef int[::1] _met
    cdef public int tries
    cdef int _stores
    cdef inline void start(self) noexcept:
        self.tries = 8
    @cython.locals(compared=cython.bint)
    cdef bint repeats(self, int instance, int rounds, int periods) except -1
    @cython.locals(address=cython.longlong, crosses=cython.int, before=cython.longlong, together=cython.int, ahead=cython.longlong)
    cdef int _access(self, int static, int i, int instance) noexcept
