# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.back_end.alternation cimport Alternation
from cyclelens.analyzer.simulator.back_end.binding cimport Binding
from cyclelens.analyzer.simulator.tables.arrays cimport Record

cdef int _FAR
cdef int _IMBALANCE
cdef int _WIDEST


cdef class EightPorts(Binding):
    cdef Alternation _alternation
    cdef int _loads
    cdef int _first
    cdef int _second
    cdef int start(self) except -1
    cdef int choose(self, int units, int slot) noexcept
    cdef int record(self, Record state) except -1
    cdef void _rank_two(self, int units) noexcept
