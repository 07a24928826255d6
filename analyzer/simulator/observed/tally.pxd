# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.program cimport Program

cdef int DSB
cdef int ELIMINATED
cdef int LOAD
cdef int LSD
cdef int MERGE
cdef int MISTAKEN
cdef int MITE
cdef int MOST_UNITS
cdef int MS
cdef int NONE
cdef int NO_SOURCE
cdef int SYNC
cdef int _DIVIDER
cdef int _EXECUTED
cdef int _FIELDS
cdef int _FUSED_HEAD
cdef int _GROUPS
cdef int _IDQ_HEAD
cdef int _ISSUED
cdef int _MERGES
cdef int _OWN
cdef int _PORTS
cdef int _SOURCES
cdef int _SYNCS
cdef int _UOPS


@cython.final
cdef class Tally:
    cdef Columns _columns
    cdef tuple _names
    cdef int _ports
    cdef Program _program
    cdef double _rounds
    cdef public int[::1] counts
    cdef public int[::1] first_source
    cdef public int[::1] eliminated
    cdef public int[::1] renamed
    cdef public int[::1] collided
    cdef public int[::1] blocked
    cdef public int[::1] mistaken
    cdef public int[::1] blocked_cycles
    cdef public int[::1] blocked_by
    cdef int[::1] _heads
    cdef void _find_heads(self) noexcept
    cdef void _add_rounds(self, int first, int last) noexcept
    cdef void _add(self, int uop) noexcept
    cdef void _add_blocked(self, int uop, int i) noexcept
    cdef object _failed_forward(self, int i)
    cpdef double busiest_port(self) noexcept
    cdef tuple _extra_usage(self, int group)
    cdef object _usage(self, int group, int i)
