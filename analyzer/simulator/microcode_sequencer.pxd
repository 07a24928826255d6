from cyclelens.analyzer.simulator.arrays cimport PairQueue
from cyclelens.analyzer.simulator.queues cimport MicrocodeQueue


cdef class MicrocodeSequencer:
    cdef PairQueue _delivered
    cdef MicrocodeQueue _microcode
    cdef int _width
    cpdef void tick(self)
