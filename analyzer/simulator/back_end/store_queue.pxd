# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.arrays cimport Record
from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.in_flight cimport InFlight

cdef int NONE
cdef int UNKNOWN


@cython.final
cdef class StoreQueue:
    cdef Columns _columns
    cdef InFlight _flight
    cdef int _width
    cdef int _chunk
    cdef int _page_crossing
    cdef int _size
    cdef int _busy
    cdef public int least_cycles
    cdef inline void start(self) noexcept:
        self._busy = 0
        self.least_cycles = 0
    cdef inline int record(self, Record state) except -1:
        state.add(self._busy)
    @cython.locals(chunk=cython.longlong)
    cdef void tick(self, int cycle) noexcept
