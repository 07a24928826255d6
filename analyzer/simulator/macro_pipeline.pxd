# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.back_end.age_scheduler cimport AgeScheduler, StoreCommit
from cyclelens.analyzer.simulator.back_end.emulator cimport Emulator
from cyclelens.analyzer.simulator.back_end.macro_renamer cimport MacroRenamer
from cyclelens.analyzer.simulator.back_end.one_page cimport LinesOfOnePage
from cyclelens.analyzer.simulator.back_end.reorder_buffer cimport ReorderBuffer
from cyclelens.analyzer.simulator.front_end.op_cache cimport OpCache
from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.in_flight cimport InFlight
from cyclelens.analyzer.simulator.tables.operations cimport Operations
from cyclelens.analyzer.simulator.tables.program cimport Program
from cyclelens.analyzer.simulator.tables.queues cimport Queues

cdef int _CANCEL_INTERVAL
cdef int _STUCK_CYCLES


@cython.final
cdef class MacroPipeline:
    cdef public object microarchitecture
    cdef public object options
    cdef public Columns columns
    cdef public Program program
    cdef public Queues queues
    cdef public InFlight flight
    cdef public Operations operations
    cdef public Emulator emulator
    cdef public ReorderBuffer reorder_buffer
    cdef public OpCache front_end
    cdef public LinesOfOnePage one_page
    cdef public MacroRenamer renamer
    cdef public AgeScheduler scheduler
    cdef public StoreCommit commit
    cdef public int period_cycles
    cdef public int period_rounds
    cdef public int cycle
    cdef int tick(self) except -1
    cdef int _dispatch_of_round(self, int round_number) noexcept
    cpdef int rounds_retired(self, int min_rounds, int min_cycles) noexcept
