# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.arrays cimport PairQueue, Record
from cyclelens.analyzer.simulator.tables.layout cimport Layout
from cyclelens.analyzer.simulator.tables.program cimport Program
from cyclelens.analyzer.simulator.tables.queues cimport MicrocodeQueue, Shortage

cdef int LATE_DSB
cdef int MICROCODE_SWITCH
cdef int NONE


@cython.final
cdef class Dsb:
    cdef Program _program
    cdef Layout _layout
    cdef PairQueue _lines
    cdef PairQueue _delivered
    cdef Shortage _shortage
    cdef MicrocodeQueue _microcode
    cdef int _width
    cdef bint _loses_width
    cdef int _ms_stall
    cdef int _most_taken
    cdef public int position
    cdef public bint extra_last_cycle
    cdef public int last_instruction
    cdef public bint finished
    cdef int _taken_branches
    cdef inline void start(self) noexcept:
        self.position = 0
        self.extra_last_cycle = False
        self.last_instruction = -1
        self.finished = False
        self._taken_branches = 0
    @cython.locals(fresh=cython.bint, extra_before=cython.bint)
    cdef void tick(self) noexcept
    cdef inline int record(self, Record state) except -1:
        state.add(self.position)
        state.add(self.extra_last_cycle)
    cdef int _behind(self, int entry, int budget) noexcept
    cdef int _next_line_start(self) noexcept
    cdef bint _may_open(self) noexcept
    cdef bint _taken(self, int i) noexcept
    @cython.locals(same_block=cython.bint, last=cython.bint)
    cdef int _across_lines(self, int slot, int count, int budget, bint fresh, bint extra_before) noexcept
