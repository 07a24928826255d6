from cyclelens.analyzer.simulator.program cimport Program


cdef int FOREVER, NONE, NO_SOURCE, UNKNOWN, _INITIAL


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
    cdef public int[::1] static
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
    cdef public long long[::1] store_base
    cdef public long long[::1] store_index
    cpdef void generate(self, int instances)
    cpdef int address_of(self, int instance)
    cpdef int new_uop(self, int instance, int static)
    cpdef int new_input(self, int uop, int value)
    cpdef int new_value(self, int uop, int latency)
    cpdef int old_value(self, int zero)
    cpdef int new_store(self)
    cdef void _grow_instances(self)
    cdef void _grow_uops(self)
    cdef void _grow_inputs(self)
    cdef void _grow_values(self)
    cdef void _grow_stores(self)
