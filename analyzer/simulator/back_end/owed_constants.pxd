# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.back_end.addition cimport Addition

cdef int NONE
cdef int _OWES
cdef int _PENALTY
cdef int _RARE


cdef class OwedConstants(Addition):
    cdef int _limit
    cdef bint fits(self, int i) noexcept
    cdef int owed_then(self, int i) noexcept
    cdef int penalty(self, int i) noexcept
