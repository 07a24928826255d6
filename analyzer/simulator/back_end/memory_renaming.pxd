# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.program cimport Program

cdef int COMPUTE
cdef int NONE
cdef int SIMD_CLASS
cdef int UNKNOWN
cdef int _COMPUTED
cdef int _MATERIALIZED


@cython.final
cdef class MemoryRenaming:
    cdef Columns _columns
    cdef Program _program
    cdef public bint active
    cdef void stored(self, int store, int value, int key, int owed) noexcept
    cpdef int value(self, int static, int i, int store, int cycle) noexcept
    cdef bint _is_computed(self, int value) noexcept
    cdef bint _is_added(self, int value) noexcept
