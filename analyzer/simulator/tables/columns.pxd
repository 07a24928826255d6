# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.arrays cimport Record
from cyclelens.analyzer.simulator.tables.column_classes cimport FlightColumns
from cyclelens.analyzer.simulator.tables.program cimport Program

cdef int CODE_LINE
cdef int UNKNOWN
cdef int _AHEAD
cdef int _MOST_KEPT


@cython.final
cdef class Columns(FlightColumns):
    cdef public Program program
    cdef int _margin
    cdef int _value_margin
    cdef public bint watched
    cdef public int instances
    cdef public int uops
    cdef public int inputs
    cdef public int values
    cdef public int stores
    cdef int start(self, bint watched) except -1
    cpdef bint short(self) noexcept
    cdef int reserve(self) except -1
    cdef int reserve_cycles(self, int end) except -1
    cdef void refuse(self, int cycle, int refusal, int by) noexcept
    cdef void queue(self, int uop, int queued, int behind) noexcept
    cdef void generate(self, int instances) noexcept
    cdef int address_of(self, int instance) noexcept
    cdef int new_uop(self, int instance, int i, int static) noexcept
    cdef int new_input(self, int uop, int value) noexcept
    cdef int new_value(self, int uop, int latency) noexcept
    cdef int old_value(self, int zero) noexcept
    cdef int record_value(self, Record state, int value, int oldest) except -1
    cdef int new_store(self) noexcept
