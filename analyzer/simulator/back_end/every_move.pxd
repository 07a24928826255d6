# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.back_end.elimination cimport Elimination



cdef class EveryMove(Elimination):
    cdef bint decide(self, int register_class) noexcept
