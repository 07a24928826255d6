# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.arrays cimport PairQueue, Record

cdef int MOST_UNITS
cdef int _SCHEDULERS
cdef int _SETTLED
cdef int _STORES
cdef int _UOPS


@cython.final
cdef class InFlight:
    cdef public int uop_mask
    cdef public int store_mask
    cdef public int[::1] u_inputs
    cdef public int[::1] u_after_address
    cdef public int[::1] u_after_data
    cdef public int[::1] u_fresh
    cdef public int[::1] u_place
    cdef public int[::1] u_waste
    cdef public int[::1] u_waste_value
    cdef public int[::1] u_slots
    cdef public int[::1] u_harness
    cdef public int[::1] s_base_value
    cdef public int[::1] s_index_value
    cdef public int[::1] s_base_key
    cdef public int[::1] s_vector
    cdef public int[::1] s_source
    cdef public int[::1] s_picked
    cdef public int[::1] s_crosses
    cdef public int[::1] u_scheduler
    cdef public int[::1] u_units
    cdef public int[::1] waiting
    cdef public int[::1] addresses
    cdef public PairQueue vectors
    cdef public PairQueue fresh
    cdef public int oldest_store
    cdef public bint small_loop
    cdef public bint decoded
    cdef inline int start(self) except -1:
        self.fresh.start(16384)
        for scheduler in range(30):
            self.waiting[scheduler] = 0
            self.addresses[scheduler] = 0
        self.vectors.start(16384)
        self.oldest_store = 0
        self.small_loop = False
        self.decoded = False
    cdef inline int record_time(self, Record state, int ready) except -1:
        state.add_time(ready, 64)
