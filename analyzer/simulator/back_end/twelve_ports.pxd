# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.back_end.binding cimport Binding
from cyclelens.analyzer.simulator.tables.arrays cimport Record

cdef int MOST_UNITS
cdef int _IMBALANCE


cdef class TwelvePorts(Binding):
    cdef int _memory
    cdef public int[::1] previous
    cdef int[::1] _latest
    cdef int start(self) except -1
    cdef void look(self) noexcept
    cdef bint settled(self) noexcept
    cdef int choose(self, int units, int slot) noexcept
    cdef int record(self, Record state) except -1
    cdef int _in_turn(self, int units) noexcept
