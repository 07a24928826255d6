# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.columns cimport Columns

cdef int NONE
cdef int UNKNOWN


@cython.final
cdef class StoreBuffer:
    cdef Columns _columns
    cdef int _oldest
    cdef inline void start(self) noexcept:
        self._oldest = 0
    cdef void tick(self, int cycle) noexcept
