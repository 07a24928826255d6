# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.arrays cimport PairQueue, Record
from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.program cimport Program

cdef int LOAD
cdef int STORE_ADDRESS
cdef int STORE_DATA
cdef int UNKNOWN
cdef int _MOST_IN_FLIGHT


@cython.final
cdef class FenceOrder:
    cdef Columns _columns
    cdef public PairQueue pending
    cdef public PairQueue accesses
    cdef int start(self) except -1
    cdef bint may_pass(self, int fence, int cycle) noexcept
    cdef bint blocks(self, int access) noexcept
    cdef int record(self, Record state) except -1
    cdef void tick(self, int cycle) noexcept


@cython.final
cdef class Fences:
    cdef Columns _columns
    cdef Program _program
    cdef public FenceOrder loads
    cdef public FenceOrder stores
    cdef int start(self) except -1
    cdef void bound(self, int uop) noexcept
    cdef bint allow(self, int uop, int cycle) noexcept
    cdef void fixed(self, int uop) noexcept
    cdef void tick(self, int cycle) noexcept
