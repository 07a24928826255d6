# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.arrays cimport PairQueue, Record
from cyclelens.analyzer.simulator.tables.queues cimport MicrocodeQueue, Shortage

cdef int LATE_MICROCODE
cdef int MICROCODE_SWITCH


@cython.final
cdef class MicrocodeSequencer:
    cdef PairQueue _delivered
    cdef Shortage _shortage
    cdef MicrocodeQueue _microcode
    cdef int _width
    cdef void tick(self) noexcept
    cdef inline int record(self, Record state) except -1:
        queue = self._microcode
        state.add(queue.stall)
        state.add(queue.post_stall)
        if queue.first < queue.end:
            state.add(queue.first)
            state.add(queue.end)
            state.add(queue.instance - state.instance)
