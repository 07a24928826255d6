# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.arrays cimport Record, SequenceQueues



cdef class DispatchRule:
    cdef void start(self) noexcept
    cdef int held_back(self, SequenceQueues ready) noexcept
    cdef void left(self, int uop, int unit) noexcept
    cdef void pass_by(self, int cycles) noexcept
    cdef int record(self, Record state) except -1
