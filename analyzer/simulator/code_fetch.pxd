from cyclelens.analyzer.simulator.arrays cimport PairQueue
from cyclelens.analyzer.simulator.columns cimport Columns
from cyclelens.analyzer.simulator.layout cimport Layout
from cyclelens.analyzer.simulator.program cimport Program


cdef int CODE_LINE, _ENOUGH_BLOCKS, _ENOUGH_LINES


cdef class CodeFetch:
    cdef Columns _columns
    cdef Program _program
    cdef Layout _layout
    cdef PairQueue _blocks
    cdef PairQueue _lines
    cdef public int round
    cdef public int instance
    cpdef void tick(self)
    cdef void _fetch_round(self)
    cdef void _fetch_group(self)
