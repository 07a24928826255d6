# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.arrays cimport Record

cdef int MOST_UNITS
cdef int NEVER


cdef class Picker:
    cdef public int[::1] dispatched
    cdef public int count
    cdef public int asks_issued
    cdef int start(self, int most) except -1
    cdef void admit(self, int first) noexcept
    cdef void tick(self, int cycle) noexcept
    cdef int next_event(self, int cycle) noexcept
    cdef void skip(self, int cycles) noexcept
    cdef int record(self, Record state) except -1
