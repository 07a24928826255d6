# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.arrays cimport PairQueue, Record
from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.entries cimport Entries
from cyclelens.analyzer.simulator.tables.program cimport Program

cdef int MOST_UNITS
cdef int NONE
cdef int _ANY
cdef int _NUMBERS
cdef int _PRIME


cdef class Binding:
    cdef Columns _columns
    cdef Program _program
    cdef PairQueue _bound
    cdef Entries _entries
    cdef int _units
    cdef public int[::1] usage
    cdef int[::1] _weights
    cdef public int[::1] snapshot
    cdef int[::1] _single
    cdef int[::1] _ranks
    cdef int _ranked
    cdef int _near
    cdef int start(self) except -1
    cdef void tick(self) noexcept
    cdef void look(self) noexcept
    cdef int choose(self, int units, int slot) noexcept
    cdef bint settled(self) noexcept
    cdef int outline(self) noexcept
    cdef int record(self, Record state) except -1
    cdef int only(self, int units) noexcept
    cdef int rank(self, int units, int imbalance) noexcept
    cdef int ranked(self, int place) noexcept
