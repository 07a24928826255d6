# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.arrays cimport PairQueue
from cyclelens.analyzer.simulator.tables.program cimport Program

cdef int CODE_LINE


@cython.final
cdef class Queues:
    cdef int _queue_size
    cdef int _idq_size
    cdef int _issue_width
    cdef public PairQueue blocks
    cdef public PairQueue lines
    cdef public PairQueue instructions
    cdef public PairQueue delivered
    cdef public PairQueue idq
    cdef public PairQueue issued
    cdef int start(self, Program program) except -1


@cython.final
cdef class MicrocodeQueue:
    cdef public int first
    cdef public int end
    cdef public int instance
    cdef public int stall
    cdef public int post_stall
    cdef void start(self) noexcept
    cdef void hand_over(self, int first, int end, int instance, int stall, int post_stall) noexcept
    cdef bint busy(self) noexcept
