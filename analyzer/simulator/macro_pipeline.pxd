# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.back_end.emulator cimport Emulator
from cyclelens.analyzer.simulator.back_end.macro_renamer cimport MacroRenamer
from cyclelens.analyzer.simulator.back_end.macro_scheduler cimport MacroScheduler
from cyclelens.analyzer.simulator.back_end.one_page cimport LinesOfOnePage
from cyclelens.analyzer.simulator.back_end.store_queue cimport StoreQueue
from cyclelens.analyzer.simulator.clock cimport Clock
from cyclelens.analyzer.simulator.front_end.front_end cimport FrontEnd
from cyclelens.analyzer.simulator.replay cimport Replay
from cyclelens.analyzer.simulator.tables.arrays cimport Record
from cyclelens.analyzer.simulator.tables.in_flight cimport InFlight
from cyclelens.analyzer.simulator.tables.operations cimport Operations
from cyclelens.analyzer.simulator.tables.queues cimport Queues



cdef class MacroPipeline(Clock):
    cdef public object microarchitecture
    cdef public object options
    cdef public Queues queues
    cdef public InFlight flight
    cdef public Operations operations
    cdef public Emulator emulator
    cdef public FrontEnd front_end
    cdef public LinesOfOnePage one_page
    cdef public MacroRenamer renamer
    cdef public MacroScheduler scheduler
    cdef public StoreQueue commit
    cdef public Replay replay
    cdef int skip_to(self, int following) except -1
    cdef int next_event(self) noexcept
    cdef int tick(self) except -1
    cdef bint between_instructions(self) noexcept
    @cython.locals(digest=cython.longlong)
    cdef long long outline(self) noexcept
    cdef int record_stages(self, Record state) except -1
    cdef int _renamed(self) noexcept
    cdef bint stays(self, int rounds, int periods) except -1
