from cyclelens.analyzer.simulator.columns cimport Columns
from cyclelens.analyzer.simulator.program cimport Program


cdef int NONE, UNKNOWN, _FIRST_FREE


cdef class Memory:
    cdef Columns _columns
    cdef Program _program
    cdef long long _origin
    cdef long long _origins
    cdef public long long[::1] symbol
    cdef public int first_live
    cdef public long long _base
    cdef public long long _index
    cdef public int _scale
    cdef public int _displacement
    cdef long long _new_origin(self)
    cdef void _look_at(self, int static_uop)
    cpdef int open_store(self, int static_uop)
    cpdef int newest_store(self, int static_uop, int cycle)
    cdef bint _finished(self, int store, int cycle)
    cpdef void copy(self, int source, int target)
    cpdef long long continued(self, int i)
    cpdef void result(self, int key, long long continued)
