# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.back_end.binding cimport Binding
from cyclelens.analyzer.simulator.back_end.memory cimport Memory
from cyclelens.analyzer.simulator.back_end.renamer cimport Renamer
from cyclelens.analyzer.simulator.back_end.reorder_buffer cimport ReorderBuffer
from cyclelens.analyzer.simulator.back_end.resources cimport Resources
from cyclelens.analyzer.simulator.back_end.scheduler cimport Scheduler
from cyclelens.analyzer.simulator.back_end.store_buffer cimport StoreBuffer
from cyclelens.analyzer.simulator.front_end.front_end cimport FrontEnd
from cyclelens.analyzer.simulator.tables.arrays cimport Record
from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.entries cimport Entries
from cyclelens.analyzer.simulator.tables.program cimport Program
from cyclelens.analyzer.simulator.tables.queues cimport Queues

cdef int NONE
cdef int _BUFFERS_FILLED
cdef int _CANCEL_INTERVAL
cdef int _FIRST_ANCHOR
cdef int _MOST_SPARE
cdef int _OUTLINE
cdef int _STUCK_CYCLES


@cython.final
cdef class Pipeline:
    cdef public object microarchitecture
    cdef public object options
    cdef public Program program
    cdef public Columns columns
    cdef public Queues queues
    cdef public Entries entries
    cdef public Memory memory
    cdef public FrontEnd front_end
    cdef public Resources resources
    cdef public Renamer renamer
    cdef public Binding binding
    cdef public Scheduler scheduler
    cdef public ReorderBuffer reorder_buffer
    cdef public StoreBuffer store_buffer
    cdef bint _repeatable
    cdef Record _state
    cdef Record _anchor
    cdef int[::1] _outline
    cdef public int period_cycles
    cdef public int period_rounds
    cdef int _anchor_round
    cdef int _next_anchor
    cdef public int cycle
    cdef public int visited
    cdef int _run(self, int min_rounds, int min_cycles, bint stop_at_period, bint skip, object cancel) except -1
    cdef int _skip_to(self, int following) except -1
    cdef int _next_event(self) noexcept
    cdef bint _state_repeats(self) except -1
    cdef void _draw_outline(self) noexcept
    cdef bint _same_outline(self) noexcept
    cdef int _record(self, Record state) except -1
    cdef int _issue_of_round(self, int round_number) noexcept
    cpdef int rounds_retired(self, int min_rounds, int min_cycles) except? -1
    cdef int tick(self) except -1
