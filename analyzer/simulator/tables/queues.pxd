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
    cdef public PairQueue bound
    cdef public PairQueue free
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
    cdef inline void start(self, Program program) noexcept:
        self._program = program
        self.delivered = -1
        self.reason = 1
        self._instruction = -1
        for slot in range(16):
            self._stall_cycle[slot] = -1
    cdef inline void note(self, int reason) noexcept:
        self.reason = reason
        self._instruction = -1
    cdef inline void blame(self, int reason, int instruction) noexcept:
        self.reason = reason
        self._instruction = instruction
    cdef inline int instruction(self) noexcept:
        if self._instruction != -1:
            return self._instruction
        following = self.delivered + 1
        return self._program.q_instruction[following if following < self._program.idq_uops else 0]
    cdef inline void stall(self, int cycle, int instruction) noexcept:
        self._stall_cycle[cycle & 16 - 1] = cycle
        self._stall_instruction[cycle & 16 - 1] = instruction
    cdef inline void starve(self, int cycle) noexcept:
        slot = cycle & 16 - 1
        if cycle >= 0 and self._stall_cycle[slot] == cycle:
            self.blame(2, self._stall_instruction[slot])
        else:
            self.note(1)


@cython.final
cdef class MicrocodeQueue:
    cdef public int first
    cdef public int end
    cdef public int instance
    cdef public int instruction
    cdef public int stall
    cdef public int post_stall
    cdef inline void start(self) noexcept:
        self.first = 0
        self.end = 0
        self.instance = 0
        self.instruction = -1
        self.stall = 0
        self.post_stall = 0
    cdef inline void hand_over(self, int first, int end, int instance, int instruction, int stall, int post_stall) noexcept:
        self.instruction = instruction
        self.first = first
        self.end = end
        self.instance = instance
        self.stall = stall
        self.post_stall = post_stall
    cdef inline bint busy(self) noexcept:
        return self.first < self.end or self.stall > 0
