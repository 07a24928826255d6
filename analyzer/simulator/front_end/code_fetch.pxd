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
    cdef inline void start(self) noexcept:
        self.round = 0
        self.instance = 0
    cdef inline void tick(self) noexcept:
        while self._lines.count < 2 and self._blocks.count < 4:
            if self._program.loop:
                self._fetch_round()
            else:
                self._fetch_group()
    cdef int record(self, Record state) except -1
    cdef void _fetch_round(self) noexcept
    cdef void _fetch_group(self) noexcept
