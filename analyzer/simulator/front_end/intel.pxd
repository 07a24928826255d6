# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.front_end.code_fetch cimport CodeFetch
from cyclelens.analyzer.simulator.front_end.decoder cimport Decoder
from cyclelens.analyzer.simulator.front_end.dsb cimport Dsb
from cyclelens.analyzer.simulator.front_end.front_end cimport FrontEnd
from cyclelens.analyzer.simulator.front_end.lsd cimport Lsd
from cyclelens.analyzer.simulator.front_end.microcode_sequencer cimport MicrocodeSequencer
from cyclelens.analyzer.simulator.front_end.predecoder cimport Predecoder
from cyclelens.analyzer.simulator.front_end.stack_engine cimport StackEngine
from cyclelens.analyzer.simulator.tables.arrays cimport Record
from cyclelens.analyzer.simulator.tables.layout cimport Layout
from cyclelens.analyzer.simulator.tables.program cimport Program
from cyclelens.analyzer.simulator.tables.queues cimport MicrocodeQueue, Queues, Shortage

cdef int DSB
cdef int DSB_SWITCH
cdef int JCC
cdef int LATE_DSB
cdef int LSD
cdef int MITE
cdef int MS
cdef int NEVER
cdef int NONE
cdef int PREDECODER


cdef class MiteDsbLsd(FrontEnd):
    cdef Program _program
    cdef Layout _layout
    cdef Queues _queues
    cdef MicrocodeQueue _microcode
    cdef Shortage _shortage
    cdef CodeFetch _fetch
    cdef Predecoder _predecoder
    cdef Decoder _decoder
    cdef MicrocodeSequencer _sequencer
    cdef Dsb _dsb
    cdef Lsd _lsd
    cdef StackEngine _stack_engine
    cdef int _lsd_rest
    cdef int _idq_size
    cdef int _idq_limit
    cdef int _after_microcode
    cdef public int source
    cdef int start(self) except -1
    cdef int idle(self) noexcept
    cdef void skip(self, int cycles) noexcept
    cdef bint _rests(self) noexcept
    cdef int tick(self, int cycle) except -1
    cdef int record(self, Record state) except -1
    cdef int outline(self) noexcept
    cdef void _from_code(self, int cycle) noexcept
    cdef void _after_decoder(self) noexcept
    cdef int _last_before_dsb(self) noexcept
    cdef void _after_dsb(self, int instruction) noexcept
    cdef void _note_uncached(self) noexcept
