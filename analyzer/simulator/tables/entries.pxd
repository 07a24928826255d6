# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.program cimport Program

cdef int NONE


@cython.final
cdef class Entries:
    cdef Columns _columns
    cdef Program _program
    cdef int _width
    cdef int _schedulers
    cdef public bint several
    cdef bint _whole_groups
    cdef public bint by_uop
    cdef tuple _names
    cdef int[::1] _sizes
    cdef int _limit
    cdef int[::1] _held
    cdef int[::1] _wanted
    cdef int[::1] _before
    cdef int _units
    cdef int[::1] _scheduler_of
    cdef public int lacking
    cdef public int occupancy
    cdef inline void start(self) noexcept:
        self.lacking = -1
        self.occupancy = 0
        for scheduler in range(self._schedulers):
            self._held[scheduler] = 0
            self._wanted[scheduler] = 0
    cdef inline bint full(self) noexcept:
        if self.several:
            return self._whole_groups and self._lacks()
        return self.occupancy > self._limit
    cdef inline void start_group(self) noexcept:
        for scheduler in range(self._schedulers):
            self._wanted[scheduler] = 0
    cdef bint take(self, int first, int count) noexcept
    cdef bint _lacks(self) noexcept
    cdef int _emptiest(self, int units) noexcept
    cdef int _left(self, int scheduler) noexcept
    cdef inline void enter(self, int unit) noexcept:
        self.occupancy += 1
        if self.several:
            self._held[self._scheduler_of[unit]] += 1
    cdef inline void leave(self, int unit) noexcept:
        self.occupancy -= 1
        if self.several:
            self._held[self._scheduler_of[unit]] -= 1
    cdef inline bint in_the_way(self, int unit) noexcept:
        return not self.several or self._scheduler_of[unit] == self.lacking
    cdef inline int free(self, int unit) noexcept:
        scheduler = self._scheduler_of[unit]
        return self._sizes[scheduler] - self._held[scheduler]
