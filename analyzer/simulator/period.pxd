# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.back_end.binding cimport Binding
from cyclelens.analyzer.simulator.back_end.memory cimport Memory
from cyclelens.analyzer.simulator.back_end.renamer cimport Renamer
from cyclelens.analyzer.simulator.back_end.reorder_buffer cimport ReorderBuffer
from cyclelens.analyzer.simulator.back_end.resources cimport Resources
from cyclelens.analyzer.simulator.back_end.scheduler cimport Scheduler
from cyclelens.analyzer.simulator.front_end.front_end cimport FrontEnd
from cyclelens.analyzer.simulator.tables.arrays cimport Record
from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.entries cimport Entries
from cyclelens.analyzer.simulator.tables.queues cimport Queues

cdef int NONE
cdef int _DIGEST
cdef int _FIRST_ANCHOR


@cython.final
cdef class Period:
    cdef Columns _columns
    cdef Queues _queues
    cdef Entries _entries
    cdef Memory _memory
    cdef Resources _resources
    cdef FrontEnd _front_end
    cdef Renamer _renamer
    cdef Binding _binding
    cdef Scheduler _scheduler
    cdef ReorderBuffer _reorder_buffer
    cdef Record _state
    cdef Record _newer
    cdef Record _older
    cdef Record _anchor
    cdef long long _newer_outline
    cdef long long _older_outline
    cdef int _next_anchor
    cdef void start(self) noexcept
    cdef bint found(self, int cycle) except -1
    cdef bint _equals(self, Record anchor, int cycle) except -1
    @cython.locals(digest=cython.longlong)
    cdef long long _outline(self) noexcept
    cdef int _record(self, Record state, int cycle) except -1
