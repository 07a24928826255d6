# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.front_end.front_end cimport FrontEnd
from cyclelens.analyzer.simulator.tables.arrays cimport PairQueue, Record
from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.in_flight cimport InFlight
from cyclelens.analyzer.simulator.tables.operations cimport Operations
from cyclelens.analyzer.simulator.tables.program cimport Program
from cyclelens.analyzer.simulator.tables.queues cimport Shortage

cdef int DECODER
cdef int DSB
cdef int LATE_DSB
cdef int MITE
cdef int NEVER
cdef int PREDECODER
cdef int _EIGHTHS


cdef class OpCache(FrontEnd):
    cdef Columns _columns
    cdef Program _program
    cdef Operations _operations
    cdef InFlight _flight
    cdef PairQueue _idq
    cdef Shortage _shortage
    cdef int _idq_size
    cdef int _decoders
    cdef int _decode_bytes
    cdef int _buffer_bytes
    cdef int _long
    cdef public int instance
    cdef public int wait
    cdef public bint decodes
    cdef public int fetched
    cdef int start(self) except -1
    cdef void _fetch_from(self, int address) noexcept
    cdef int tick(self, int cycle) except -1
    cdef int idle(self) noexcept
    cdef void skip(self, int cycles) noexcept
    cdef void _pass(self) noexcept
    cdef int outline(self) noexcept
    cdef int record(self, Record state) except -1
    cdef void _decode(self, int cycle) noexcept
    cdef void _deliver(self, int source, int cycle) noexcept
    cdef void _window(self, int cycle) noexcept
