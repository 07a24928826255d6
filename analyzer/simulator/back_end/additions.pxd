# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.program cimport Program

cdef int NONE
cdef int _OWES
cdef int _PENALTY
cdef int _RARE


@cython.final
cdef class Additions:
    cdef Program _program
    cdef int _limit
    cdef public bint active
    cdef public int[::1] owed
    cdef int start(self) except -1
    cdef inline bint fits(self, int i) noexcept:
        total = self.owed_then(i) - 65536
        return -self._limit <= total < self._limit
    cdef int owed_then(self, int i) noexcept
    cdef int penalty(self, int i) noexcept
