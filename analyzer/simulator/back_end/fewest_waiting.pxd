# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.back_end.binding cimport Binding
from cyclelens.analyzer.simulator.tables.arrays cimport Record

cdef int NONE


cdef class FewestWaiting(Binding):
    cdef int[::1] _turns
    cdef int start(self) except -1
    cdef int choose(self, int units, int slot) noexcept
    cdef int record(self, Record state) except -1
