from cyclelens.analyzer.simulator.arrays cimport PairQueue
from cyclelens.analyzer.simulator.columns cimport Columns
from cyclelens.analyzer.simulator.program cimport Program


cdef int ELIMINATED, NONE, _ALU_SIX, _IMBALANCE, _IMBALANCE_TEN, _LOADS, _MAX_PORTS, _STORE_ADDRESSES, _STORE_DATA


cdef class PortAssignment:
    cdef Columns _columns
    cdef Program _program
    cdef PairQueue _issued
    cdef int _policy
    cdef public int[::1] usage
    cdef public int[::1] snapshot
    cdef public int[::1] previous
    cdef public int toggles
    cdef int[::1] _ranked
    cdef int[::1] _sets
    cdef int _sets_count
    cdef int[::1] _six
    cpdef void tick(self)
    cdef int _choose(self, int ports, int slot)
    cdef int _least_used(self, int ports, bint ties_to_highest)
    cdef int _most_used(self, int ports)
    cdef int _toggle(self, int ports, int first, int second)
    cdef int _choose_of_ten(self, int ports, int slot)
