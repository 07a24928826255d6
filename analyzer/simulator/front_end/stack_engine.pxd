# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.arrays cimport PairQueue, Record
from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.program cimport Program
from cyclelens.analyzer.simulator.tables.queues cimport Shortage

cdef int LSD
cdef int NONE
cdef int STACK_ENGINE
cdef int _NO_LIMIT


@cython.final
cdef class StackEngine:
    cdef Columns _columns
    cdef Program _program
    cdef PairQueue _delivered
    cdef PairQueue _idq
    cdef Shortage _shortage
    cdef int _most
    cdef public int offset
    cdef inline void start(self) noexcept:
        self.offset = 0
    @cython.locals(looks=cython.bint)
    cdef void tick(self, int source, int cycle) noexcept
    cdef inline int record(self, Record state) except -1:
        state.add(self.offset)
        queue = self._idq
        state.add(queue.count)
        for position in range(queue.count if self._program.adds_uops else min(queue.count, 1)):
            index = queue.head + position & queue.mask
            state.add(queue.firsts[index] - state.uop)
            state.add(queue.seconds[index])
    cdef bint _passes(self, int i) noexcept
    cdef void _note(self, int idq_uop, int uop, int source, int cycle) noexcept
