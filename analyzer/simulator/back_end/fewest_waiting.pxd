# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.back_end.binding cimport Binding

cdef int NONE


cdef class FewestWaiting(Binding):
    cdef int choose(self, int units, int slot) noexcept
