# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.arrays cimport Record
from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.in_flight cimport InFlight
from cyclelens.analyzer.simulator.tables.operations cimport Operations
from cyclelens.analyzer.simulator.tables.program cimport Program



cdef class LoadRenaming:
    cdef Columns _columns
    cdef Program _program
    cdef Operations _operations
    cdef InFlight _flight
    cdef void start(self) noexcept
    cdef bint takes_over(self, int uop, int store, int base, int index) noexcept
    cdef bint mistakes(self, int uop, int store, int base, int index) noexcept
    cdef int record(self, Record state) except -1
