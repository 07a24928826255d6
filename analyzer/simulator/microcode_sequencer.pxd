cimport cython

from cyclelens.analyzer.simulator.arrays cimport PairQueue
from cyclelens.analyzer.simulator.queues cimport MicrocodeQueue


@cython.final
cdef class MicrocodeSequencer:
    cdef PairQueue _delivered
    cdef MicrocodeQueue _microcode
    cdef int _width
    cdef void tick(self) noexcept
