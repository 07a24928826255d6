from cyclelens.analyzer.simulator.arrays cimport PairQueue
from cyclelens.analyzer.simulator.columns cimport Columns
from cyclelens.analyzer.simulator.program cimport Program


cdef int LOAD, STORE_ADDRESS, STORE_DATA, UNKNOWN


cdef class FenceOrder:
    cdef Columns _columns
    cdef public PairQueue pending
    cdef public PairQueue accesses
    cpdef bint may_pass(self, int fence, int cycle)
    cpdef bint blocks(self, int access)
    cpdef void tick(self, int cycle)


cdef class Fences:
    cdef Columns _columns
    cdef Program _program
    cdef public FenceOrder loads
    cdef public FenceOrder stores
    cpdef void bound(self, int uop)
    cpdef bint allow(self, int uop, int cycle)
    cpdef void fixed(self, int uop)
    cpdef void tick(self, int cycle)
