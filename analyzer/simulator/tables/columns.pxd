cimport cython

from cyclelens.analyzer.simulator.tables.arrays cimport Record
from cyclelens.analyzer.simulator.tables.program cimport Program

cdef int CODE_LINE
cdef int FOREVER
cdef int NONE
cdef int NO_SOURCE
cdef int UNKNOWN
cdef int _INITIAL
cdef int _MOST_KEPT


@cython.final
cdef class Columns:
    cdef public Program program
    cdef public int instances
    cdef public int uops
    cdef public int inputs
    cdef public int values
    cdef public int stores
    cdef public int[::1] instance_uop0
    cdef public int[::1] address
    cdef public int[::1] predecoded
    cdef public int[::1] removed
    cdef public int[::1] instance
    cdef public int[::1] position
    cdef public int[::1] static
    cdef int _margin
    cdef int _value_margin
    cdef public int[::1] source
    cdef public int[::1] added
    cdef public int[::1] issued
    cdef public int[::1] ready
    cdef public int[::1] dispatched
    cdef public int[::1] executed
    cdef public int[::1] retired
    cdef public int[::1] port
    cdef public int[::1] store
    cdef public int[::1] latency_bonus
    cdef public int[::1] blocked
    cdef public int[::1] held
    cdef public int[::1] first_input
    cdef public int[::1] first_result
    cdef public int[::1] pending
    cdef public int[::1] next_uop
    cdef public int[::1] input_value
    cdef public int[::1] input_uop
    cdef public int[::1] input_next
    cdef public int[::1] value_ready
    cdef public int[::1] value_uop
    cdef public int[::1] value_latency
    cdef public int[::1] value_zero
    cdef public int[::1] value_waiters
    cdef public int[::1] store_address
    cdef public int[::1] store_data
    cdef public int[::1] store_waiters
    cdef public int[::1] store_scale
    cdef public int[::1] store_displacement
    cdef public int[::1] store_bytes
    cdef public int[::1] store_uop
    cdef public int[::1] store_left
    cdef public long long[::1] store_base
    cdef public long long[::1] store_index
    cpdef int start(self) except -1
    cpdef bint short(self) noexcept
    cdef int _start_columns(self, int size, int value_size) except -1
    cdef int _cut_instances(self, int[::1] table, int size) except -1
    cdef int _cut_uops(self, int[::1] table, int size) except -1
    cdef int _cut_inputs(self, int[::1] table, int size) except -1
    cdef int _cut_values(self, int[::1] table, int size) except -1
    cdef int _cut_stores(self, int[::1] table, int size) except -1
    cdef int reserve(self) except -1
    cdef void generate(self, int instances) noexcept
    cdef int address_of(self, int instance) noexcept
    cdef int new_uop(self, int instance, int i, int static) noexcept
    cdef int new_input(self, int uop, int value) noexcept
    cdef int new_value(self, int uop, int latency) noexcept
    cdef int old_value(self, int zero) noexcept
    cdef int record_value(self, Record state, int value, int oldest) except -1
    cdef int new_store(self) noexcept
    cdef int _grow_instances(self) except -1
    cdef int _grow_uops(self) except -1
    cdef int _grow_inputs(self) except -1
    cdef int _grow_values(self) except -1
    cdef int _grow_stores(self) except -1
