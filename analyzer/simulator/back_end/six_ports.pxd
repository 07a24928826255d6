# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.back_end.alternation cimport Alternation
from cyclelens.analyzer.simulator.back_end.binding cimport Binding
from cyclelens.analyzer.simulator.tables.arrays cimport Record

cdef int NONE
cdef int _IMBALANCE
cdef int _SLOTS


cdef class SixPorts(Binding):
    cdef Alternation _alternation
    cdef int _loads
    cdef int _alus
    cdef int[::1] _by_slot
    cdef int start(self) except -1
    cdef int choose(self, int units, int slot) noexcept
    cdef int record(self, Record state) except -1
    cdef int _least(self, int units) noexcept
    cdef int _most(self, int units) noexcept
