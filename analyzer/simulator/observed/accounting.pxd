# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.program cimport Program

cdef int DSB
cdef int LOAD
cdef int LSD
cdef int MERGE
cdef int MITE
cdef int MOST_UNITS
cdef int MS
cdef int NONE
cdef int SYNC
cdef int _DECODER
cdef int _DEPENDENCY
cdef int _DIVIDER
cdef int _DSB
cdef int _DSB_SWITCH
cdef int _FENCE
cdef int _ISSUE_GROUP
cdef int _JCC
cdef int _LCP
cdef int _LSD
cdef int _MS
cdef int _MS_SWITCH
cdef int _PORT
cdef int _PREDECODER
cdef int _REASON_COUNT
cdef int _REGISTER_MERGE
cdef int _RESOURCE_FULL
cdef int _RETIREMENT
cdef int _ROB_FULL
cdef int _RS_FULL
cdef int _SATURATED
cdef int _SERIALIZATION
cdef int _UNIT


@cython.final
cdef class Accounting:
    cdef Columns _columns
    cdef Program _program
    cdef int[::1] _stalls
    cdef int _lsd_batch
    cdef int _width
    cdef int _retire_width
    cdef int _rob_size
    cdef int _rs_size
    cdef int _delay
    cdef int _ms_stall
    cdef int _decode_delay
    cdef int _block_bytes
    cdef int _never
    cdef public int[::1] used
    cdef public int[::1] lost
    cdef bint _has_jcc
    cdef public int count
    cdef public int[::1] head
    cdef public int[::1] size
    cdef public int[::1] source
    cdef public int[::1] available
    cdef public int[::1] entered
    cdef public int scheduled_count
    cdef public int[::1] scheduled
    cdef int[::1] _extra
    cdef int[::1] _following
    cdef public int[::1] left
    cdef int _retired
    cdef int _oldest_waiting
    cdef public int[::1] busy
    cdef int[::1] _why
    cdef int[::1] _whom
    cdef int[::1] _seen
    cdef int tally(self, int begin, int end) noexcept
    cdef int _time(self, int cycle) noexcept
    cdef void _collect(self) noexcept
    cdef void _append(self, int uop, int size) noexcept
    cdef int _available_from_lsd(self, int number) noexcept
    cdef void _count_dispatched(self) noexcept
    cdef void _find_busy_ports(self, int begin, int end) noexcept
    cdef int _cause(self, int number, int cycle, int taken) noexcept
    cdef int _lost(self, int cause, int instruction) noexcept
    cdef int _held_back(self, int number, int cycle) noexcept
    cdef int _front_end(self, int number, int cycle) noexcept
    cdef int _nearest_jcc(self, int own) noexcept
    cdef int _prefix_near(self, int instance) noexcept
    cdef int _waiting(self, int cycle) noexcept
    cdef int _unretired(self, int buffer, int cycle) noexcept
    cdef int _reason(self, int buffer, int uop) noexcept
    cdef void _trace_back(self, int origin) noexcept
    cdef bint _divides(self, int i) noexcept
    cdef int _inputs_ready(self, int uop) noexcept
    cdef int _producer(self, int uop) noexcept
