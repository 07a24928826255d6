# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.in_flight cimport InFlight
from cyclelens.analyzer.simulator.tables.program cimport Program

cdef int CODE_LINE
cdef int _LINES
cdef int _PAGE
cdef long long _UNKNOWN


@cython.final
cdef class LinesOfOnePage:
    cdef public bint active
    cdef Columns _columns
    cdef Program _program
    cdef InFlight _flight
    cdef int _slots
    cdef int _walking
    cdef int _remembered
    cdef long long[::1] _pages
    cdef inline void start(self) noexcept:
        for place in range(64 * self._remembered):
            self._pages[place] = 0
    @cython.locals(line=cython.int, page=cython.longlong)
    cdef void read(self, int uop, long long address) noexcept
