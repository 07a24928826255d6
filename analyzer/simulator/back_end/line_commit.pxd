# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.back_end.commit_rule cimport CommitRule
from cyclelens.analyzer.simulator.tables.columns cimport Columns

cdef int CODE_LINE
cdef int _MOST


cdef class LineCommit(CommitRule):
    cdef Columns _columns
    cdef int _count
    cdef long long _line
    cdef void next_cycle(self) noexcept
    @cython.locals(whole=cython.bint)
    cdef bint may_leave(self, int store) noexcept
    cdef long long _line_of(self, int store) noexcept
