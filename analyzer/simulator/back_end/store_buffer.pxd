# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.columns cimport Columns

cdef int NONE
cdef int UNKNOWN


@cython.final
cdef class StoreBuffer:
    cdef Columns _columns
    cdef int _oldest
    cdef void start(self) noexcept
    cdef void tick(self, int cycle) noexcept
