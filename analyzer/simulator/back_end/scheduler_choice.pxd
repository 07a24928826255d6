# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.arrays cimport Record



cdef class SchedulerChoice:
    cdef void start(self) noexcept
    cdef bint have_room(self, int mask, int uops) noexcept
    cdef void enter(self, int uop, int mask) noexcept
    cdef void refuse(self, int cycle, int mask) noexcept
    cdef int record(self, Record state) except -1
