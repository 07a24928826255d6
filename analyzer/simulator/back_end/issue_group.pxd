# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.back_end.resources cimport Resources
from cyclelens.analyzer.simulator.tables.arrays cimport PairQueue
from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.entries cimport Entries
from cyclelens.analyzer.simulator.tables.program cimport Program
from cyclelens.analyzer.simulator.tables.queues cimport Shortage

cdef int HELD_BY_FENCE
cdef int ISSUE_GROUP
cdef int NONE
cdef int REGISTER_MERGE
cdef int RESOURCE_FULL
cdef int ROB_FULL
cdef int RS_FULL
cdef int SCHEDULERS
cdef int SERIALIZATION
cdef int UNKNOWN


@cython.final
cdef class IssueGroup:
    cdef Columns _columns
    cdef Program _program
    cdef PairQueue _idq
    cdef PairQueue _issued
    cdef PairQueue _rob
    cdef Shortage _shortage
    cdef Resources _resources
    cdef Entries _entries
    cdef int _width
    cdef public int merged_for
    cdef bint _restricted
    cdef public bint held
    cdef inline void start(self) noexcept:
        program = self._program
        self.merged_for = -1
        self._restricted = program.holds_issue != 0 or program.has_joins != 0 or self._entries.by_uop or self._resources.limited
        self.held = False
    cdef inline void stand(self, int cycle) noexcept:
        self._issued.clear()
        if not self._columns.watched:
            return
        if self._idq.count == 0:
            self._starve(cycle)
        elif self._entries.full():
            self._full(cycle)
        else:
            self._wait_for_retirement(cycle, 14)
    cdef void select(self, int cycle) noexcept
    cdef inline void eliminate(self, int i) noexcept:
        if self._resources.limited:
            self._resources.eliminate(i)
    cdef bint _holds(self, int uop, int cycle) noexcept
    cdef bint _has_room(self, int uop, int idq_uop, int cycle) noexcept
    cdef void _starve(self, int cycle) noexcept
    cdef void _full(self, int cycle) noexcept
    cdef int _oldest_waiting(self) noexcept
    cdef void _wait_for_retirement(self, int cycle, int buffer) noexcept
