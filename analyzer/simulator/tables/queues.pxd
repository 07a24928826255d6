# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.arrays cimport PairQueue
from cyclelens.analyzer.simulator.tables.program cimport Program

cdef int CODE_LINE
cdef int LCP
cdef int NONE
cdef int PREDECODER
cdef int _STALLS


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
    cdef public PairQueue rob
    cdef public Shortage shortage
    cdef int start(self, Program program) except -1


@cython.final
cdef class Shortage:
    cdef int[::1] _stall_cycle
    cdef int[::1] _stall_instruction
    cdef Program _program
    cdef public int delivered
    cdef public int reason
    cdef int _instruction
    cdef void start(self, Program program) noexcept
    cdef void note(self, int reason) noexcept
    cdef void blame(self, int reason, int instruction) noexcept
    cdef int instruction(self) noexcept
    cdef void stall(self, int cycle, int instruction) noexcept
    cdef void starve(self, int cycle) noexcept


@cython.final
cdef class MicrocodeQueue:
    cdef public int first
    cdef public int end
    cdef public int instance
    cdef public int instruction
    cdef public int stall
    cdef public int post_stall
    cdef void start(self) noexcept
    cdef void hand_over(self, int first, int end, int instance, int instruction, int stall, int post_stall) noexcept
    cdef bint busy(self) noexcept
