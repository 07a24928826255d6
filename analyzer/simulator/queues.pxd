from cyclelens.analyzer.simulator.arrays cimport PairQueue


cdef class Queues:
    cdef public PairQueue blocks
    cdef public PairQueue lines
    cdef public PairQueue instructions
    cdef public PairQueue delivered
    cdef public PairQueue idq
    cdef public PairQueue issued


cdef class MicrocodeQueue:
    cdef public int first
    cdef public int end
    cdef public int instance
    cdef public int stall
    cdef public int post_stall
    cpdef void hand_over(self, int first, int end, int instance, int stall, int post_stall)
    cpdef bint busy(self)
