# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.back_end.binding cimport Binding
from cyclelens.analyzer.simulator.back_end.memory cimport Memory
from cyclelens.analyzer.simulator.back_end.renamer cimport Renamer
from cyclelens.analyzer.simulator.back_end.resources cimport Resources
from cyclelens.analyzer.simulator.back_end.scheduler cimport Scheduler
from cyclelens.analyzer.simulator.back_end.store_buffer cimport StoreBuffer
from cyclelens.analyzer.simulator.clock cimport Clock
from cyclelens.analyzer.simulator.front_end.front_end cimport FrontEnd
from cyclelens.analyzer.simulator.tables.arrays cimport Record
from cyclelens.analyzer.simulator.tables.entries cimport Entries
from cyclelens.analyzer.simulator.tables.queues cimport Queues



cdef class UopPipeline(Clock):
    cdef public object microarchitecture
    cdef public object options
    cdef public Queues queues
    cdef public Entries entries
    cdef public Memory memory
    cdef public FrontEnd front_end
    cdef public Resources resources
    cdef public Renamer renamer
    cdef public Binding binding
    cdef public Scheduler scheduler
    cdef public StoreBuffer store_buffer
    cdef bint _stamped
    cdef bint _repeatable
    @cython.locals(full=cython.bint)
    cdef int skip_to(self, int following) except -1
    cdef int _watch(self, int following, bint full) except -1
    cdef int next_event(self) noexcept
    cdef bint _full(self) noexcept
    cdef bint _held(self) noexcept
    cdef int tick(self) except -1
    cdef bint between_instructions(self) noexcept
    @cython.locals(digest=cython.longlong)
    cdef long long outline(self) noexcept
    cdef int record_stages(self, Record state) except -1
