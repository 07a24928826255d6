# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.program cimport Program

cdef int NONE


cdef class MemoryRenaming:
    cdef Columns _columns
    cdef Program _program
    cdef public bint active
    cdef void stored(self, int store, int value, int key, int owed) noexcept
    cpdef int value(self, int uop, int i, int store) noexcept
