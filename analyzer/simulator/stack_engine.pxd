from cyclelens.analyzer.simulator.arrays cimport PairQueue
from cyclelens.analyzer.simulator.columns cimport Columns
from cyclelens.analyzer.simulator.program cimport Program


cdef int LSD, NONE, STACK_ENGINE, _MAX_OFFSET


cdef class StackEngine:
    cdef Columns _columns
    cdef Program _program
    cdef PairQueue _delivered
    cdef PairQueue _idq
    cdef public int offset
    cpdef void tick(self, int source, int cycle)
    cdef bint _passes(self, int i)
    cdef void _append(self, int idq_uop, int instance, int i, int source, int cycle)
