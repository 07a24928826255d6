# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.program cimport Program

cdef int COMPUTE
cdef int MITE
cdef int NONE
cdef int SIMD_CLASS
cdef int _APART
cdef int _LATER
cdef int _SLOW
cdef int _SOON
cdef int _WORD


@cython.final
cdef class MemoryRenaming:
    cdef Columns _columns
    cdef Program _program
    cdef public bint active
    @cython.locals(vector=cython.bint, computed=cython.bint)
    cdef void stored(self, int store, int value, int key, int owed) noexcept
    cpdef int value(self, int uop, int i, int store) noexcept
