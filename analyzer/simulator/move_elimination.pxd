from cyclelens.analyzer.simulator.program cimport Program


cdef int _CLASSES, _GPR


cdef class MoveElimination:
    cdef Program _program
    cdef int[::1] _slots
    cdef public int length
    cdef bint _all_gpr
    cdef public int[::1] now
    cdef public int[::1] eliminated
    cdef public int[::1] shared
    cdef public int entries
    cdef public int[::1] entry_class
    cdef public int[::1] entry_value
    cdef public long long[::1] entry_mask
    cpdef void start_cycle(self)
    cpdef bint decide(self, int register_class)
    cpdef void decided(self)
    cdef void _move(self, int entry, int target)
    cpdef void share(self, int value, int source, int target)
    cpdef void overwrite(self, int value, int key)
    cdef int _find(self, int register_class, int value)
    cpdef void end_cycle(self)
