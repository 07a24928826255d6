# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.arrays cimport PairQueue
from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.program cimport Program
from cyclelens.analyzer.simulator.tables.queues cimport MicrocodeQueue, Shortage

cdef int DECODER
cdef int MICROCODE_SWITCH
cdef int NONE


@cython.final
cdef class Decoder:
    cdef Columns _columns
    cdef Program _program
    cdef PairQueue _instructions
    cdef PairQueue _delivered
    cdef Shortage _shortage
    cdef MicrocodeQueue _microcode
    cdef int _decoders
    cdef int _delay
    cdef bint _fusible_waits
    cdef bint _branch_ends
    cdef bint _fusible_on_last
    cdef int _stall
    cdef public int end
    cdef public int last_decoded
    cdef int[::1] _plain
    cdef int start(self, int end) except -1
    @cython.locals(fusible=cython.bint)
    cdef void tick(self, int cycle) noexcept
    cdef bint _has_next(self, int cycle) noexcept
    cdef bint _is_there(self, int place, int cycle) noexcept
    cdef bint _may_decode_fusible(self, int cycle, int decoded) noexcept
