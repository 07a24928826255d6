# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.back_end.dispatch_rule cimport DispatchRule
from cyclelens.analyzer.simulator.tables.arrays cimport Record, SequenceQueues
from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.program cimport Program

cdef int LOAD
cdef int NONE
cdef int QUEUED_FOR_PAIR
cdef int _WIDE_STORE


cdef class WideMemory(DispatchRule):
    cdef Columns _columns
    cdef Program _program
    cdef int _one
    cdef int _other
    cdef int _data
    cdef int _busy
    cdef int _wide
    cdef void start(self) noexcept
    cdef int held_back(self, SequenceQueues ready) noexcept
    cdef void left(self, int uop, int unit) noexcept
    cdef void pass_by(self, int cycles) noexcept
    cdef int record(self, Record state) except -1
