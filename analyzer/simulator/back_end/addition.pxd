# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.program cimport Program



cdef class Addition:
    cdef Program _program
    cdef public bint active
    cdef public int[::1] owed
    cdef int start(self) except -1
    cdef bint fits(self, int i) noexcept
    cdef int owed_then(self, int i) noexcept
    cdef int penalty(self, int i) noexcept
