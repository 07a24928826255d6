# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.back_end.dispatch_rule cimport DispatchRule
from cyclelens.analyzer.simulator.tables.arrays cimport SequenceQueues
from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.program cimport Program

cdef int QUEUED_FOR_PAIR
cdef int _LINE_BYTES


cdef class StorePairs(DispatchRule):
    cdef Columns _columns
    cdef Program _program
    cdef int _one
    cdef int _other
    cdef int held_back(self, SequenceQueues ready) noexcept
    @cython.locals(between=cython.longlong, bases=cython.longlong)
    cdef bint _may_pair(self, int one, int other) noexcept
