# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.program cimport Program

cdef int NONE


@cython.final
cdef class Entries:
    cdef Columns _columns
    cdef Program _program
    cdef int _size
    cdef int _width
    cdef int _schedulers
    cdef public bint several
    cdef int[::1] _sizes
    cdef int[::1] _held
    cdef int[::1] _wanted
    cdef int[::1] _before
    cdef int _units
    cdef int[::1] _scheduler_of
    cdef public int lacking
    cdef public int occupancy
    cdef void start(self) noexcept
    cdef bint full(self) noexcept
    cdef void start_group(self) noexcept
    cdef bint take(self, int first, int count) noexcept
    cdef int _emptiest(self, int units) noexcept
    cdef int _left(self, int scheduler) noexcept
    cdef void enter(self, int unit) noexcept
    cdef void leave(self, int unit) noexcept
    cdef bint in_the_way(self, int unit) noexcept
    cdef int free(self, int unit) noexcept
