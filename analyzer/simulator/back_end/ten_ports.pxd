# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.back_end.alternation cimport Alternation
from cyclelens.analyzer.simulator.back_end.binding cimport Binding
from cyclelens.analyzer.simulator.tables.arrays cimport Record

cdef int MOST_UNITS
cdef int _IMBALANCE
cdef int _LAST_SLOT
cdef int _MOST_SETS
cdef int _WIDEST


cdef class TenPorts(Binding):
    cdef Alternation _alternation
    cdef int _loads
    cdef int _store_addresses
    cdef int _store_data
    cdef public int[::1] previous
    cdef int[::1] _sets
    cdef int _sets_count
    cdef int start(self) except -1
    cdef void look(self) noexcept
    cdef bint settled(self) noexcept
    cdef int choose(self, int units, int slot) noexcept
    cdef int record(self, Record state) except -1
