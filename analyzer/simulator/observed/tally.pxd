cimport cython

from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.program cimport Program

cdef int ELIMINATED
cdef int MERGE
cdef int NO_SOURCE
cdef int SYNC
cdef int _OWN
cdef int _MERGES
cdef int _SYNCS
cdef int _GROUPS
cdef int _UOPS
cdef int _ISSUED
cdef int _EXECUTED
cdef int _DIVIDER
cdef int _SOURCES
cdef int _PORTS
cdef int _FIELDS
cdef int _IDQ_HEAD
cdef int _FUSED_HEAD


@cython.final
cdef class Tally:
    cdef Columns _columns
    cdef tuple _names
    cdef Program _program
    cdef int[::1] _heads
    cdef double _rounds
    cdef public int[::1] counts
    cdef public int[::1] first_source
    cdef public int[::1] eliminated
    cdef int _find_heads(self) except -1
    cdef void _add_rounds(self, int first, int last) noexcept
    cdef void _add(self, int uop) noexcept
