cimport cython

from cyclelens.analyzer.simulator.arrays cimport PairQueue, Record
from cyclelens.analyzer.simulator.columns cimport Columns
from cyclelens.analyzer.simulator.program cimport Program


@cython.final
cdef class Lsd:
    cdef Columns _columns
    cdef Program _program
    cdef PairQueue _delivered
    cdef public int round
    cdef public int unroll
    cdef int record(self, Record state) except -1
    cdef int _uops(self) noexcept
    cdef void tick(self) noexcept
