# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.arrays cimport PairQueue, Record
from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.layout cimport Layout
from cyclelens.analyzer.simulator.tables.program cimport Program
from cyclelens.analyzer.simulator.tables.queues cimport Shortage

cdef int LATE_LSD


@cython.final
cdef class Lsd:
    cdef Columns _columns
    cdef Program _program
    cdef Layout _layout
    cdef PairQueue _delivered
    cdef Shortage _shortage
    cdef bint _enabled
    cdef int _idq_size
    cdef int[::1] _unroll
    cdef public int round
    cdef public int unroll
    cdef inline void start(self) noexcept:
        self.round = 0
        self.unroll = 0
        if self._enabled and self._layout.all_cacheable and self._program.loop:
            uops = self._uops()
            if 0 < uops <= self._idq_size:
                self.unroll = self._unroll[uops]
    cdef int _uops(self) noexcept
    cdef inline int record(self, Record state) except -1:
        state.add(self.round - state.round)
    cdef void tick(self) noexcept
