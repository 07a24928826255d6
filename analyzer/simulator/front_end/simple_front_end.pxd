# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.arrays cimport PairQueue
from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.program cimport Program

cdef int CODE_LINE


@cython.final
cdef class SimpleFrontEnd:
    cdef Columns _columns
    cdef Program _program
    cdef PairQueue _delivered
    cdef int _width
    cdef public int instance
    cpdef void start(self) noexcept
    cdef bint wanted(self, int idq_uops) noexcept
    cdef void tick(self) noexcept
