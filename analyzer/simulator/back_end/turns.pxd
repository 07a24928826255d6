# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.arrays cimport Record

cdef int MOST_UNITS


@cython.final
cdef class Turns:
    cdef int[::1] _latest
    cdef inline void start(self) noexcept:
        for unit in range(30):
            self._latest[unit] = 0
    cdef inline int next(self, int units) noexcept:
        lowest = 0
        while not units >> lowest & 1:
            lowest += 1
        unit = max(self._latest[lowest], lowest) + 1
        while unit < 30 and (not units >> unit & 1):
            unit += 1
        if unit == 30:
            unit = lowest
        self._latest[lowest] = unit
        return unit
    cdef inline int record(self, Record state) except -1:
        for unit in range(30):
            state.add(self._latest[unit])
