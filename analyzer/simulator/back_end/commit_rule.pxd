# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.arrays cimport Record



cdef class CommitRule:
    cdef void start(self) noexcept
    cdef void next_cycle(self) noexcept
    cdef void pass_by(self, int cycles) noexcept
    cdef bint may_leave(self, int store) noexcept
    cdef int record(self, Record state) except -1
