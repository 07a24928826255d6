# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.arrays cimport PairQueue, Record
from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.program cimport Program
from cyclelens.analyzer.simulator.tables.queues cimport Shortage

cdef int NONE


@cython.final
cdef class Predecoder:
    cdef Columns _columns
    cdef Program _program
    cdef PairQueue _blocks
    cdef PairQueue _instructions
    cdef Shortage _shortage
    cdef int _width
    cdef int _block_bytes
    cdef int _in_block
    cdef int _queue_size
    cdef int _queue_limit
    cdef int _delay
    cdef int _penalty
    cdef int[::1] _group
    cdef public int next
    cdef public int end
    cdef public int group_count
    cdef public int partial
    cdef public int stall
    cdef int _prefixed
    cdef public int cycles_on_block
    cdef bint _has_prefixes
    cdef inline void start(self) noexcept:
        self.next = 0
        self.end = 0
        self.group_count = 0
        self.partial = -1
        self.stall = 0
        self._prefixed = -1
        self.cycles_on_block = 0
        self._has_prefixes = False
        for i in range(self._program.instructions):
            if self._program.i_lcp[i]:
                self._has_prefixes = True
    cdef void tick(self, int cycle) noexcept
    cdef int record(self, Record state) except -1
    cdef bint _collect(self) noexcept
    cdef void _next_block(self) noexcept
    cdef bint _spills(self, int instance) noexcept
    cdef bint _opcode_spills(self, int instance) noexcept
