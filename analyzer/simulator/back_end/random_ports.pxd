# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.back_end.binding cimport Binding
from cyclelens.analyzer.simulator.back_end.chance cimport Chance



cdef class RandomPorts(Binding):
    cdef Chance _chance
    cdef int start(self) except -1
    cdef int choose(self, int units, int slot) noexcept
