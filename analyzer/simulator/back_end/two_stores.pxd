# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.back_end.commit_rule cimport CommitRule
from cyclelens.analyzer.simulator.tables.arrays cimport Record
from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.in_flight cimport InFlight



cdef class TwoStores(CommitRule):
    cdef Columns _columns
    cdef InFlight _flight
    cdef int _width
    cdef int _page_crossing
    cdef int _crossing
    cdef int _busy
    cdef int _left
    cdef void start(self) noexcept
    cdef void next_cycle(self) noexcept
    cdef void pass_by(self, int cycles) noexcept
    cdef bint may_leave(self, int store) noexcept
    cdef int record(self, Record state) except -1


cdef class OneChunk(TwoStores):
    cdef int _chunk_bytes
    cdef long long _chunk
    @cython.locals(chunk=cython.longlong)
    cdef bint may_leave(self, int store) noexcept
