# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.back_end.dispatch_rule cimport DispatchRule
from cyclelens.analyzer.simulator.tables.arrays cimport SequenceQueues
from cyclelens.analyzer.simulator.tables.columns cimport Columns

cdef int LINE_WORDS
cdef int QUEUED_FOR_PAIR
cdef int _ALL_WORDS


cdef class LoadWords(DispatchRule):
    cdef Columns _columns
    cdef int _first
    cdef int _second
    cdef int _third
    cdef int held_back(self, SequenceQueues ready) noexcept
    cdef int _hold(self, int uop, int unit, int oldest) noexcept
