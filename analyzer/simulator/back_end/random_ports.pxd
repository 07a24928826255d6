# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.back_end.binding cimport Binding

cdef int NONE
cdef int _INCREMENT
cdef long long _MODULUS
cdef int _MULTIPLIER
cdef int _USED_BITS


cdef class RandomPorts(Binding):
    cdef long long _seed
    cdef public long long state
    cdef int start(self) except -1
    cdef int choose(self, int units, int slot) noexcept
