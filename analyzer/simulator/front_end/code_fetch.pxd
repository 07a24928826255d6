# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.arrays cimport PairQueue, Record
from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.layout cimport Layout
from cyclelens.analyzer.simulator.tables.program cimport Program

cdef int CODE_LINE
cdef int _ENOUGH_BLOCKS
cdef int _ENOUGH_LINES


@cython.final
cdef class CodeFetch:
    cdef Columns _columns
    cdef Program _program
    cdef Layout _layout
    cdef PairQueue _blocks
    cdef PairQueue _lines
    cdef public int round
    cdef public int instance
    cdef void start(self) noexcept
    cdef void tick(self) noexcept
    cdef int record(self, Record state) except -1
    cdef void _fetch_round(self) noexcept
    cdef void _fetch_group(self) noexcept
