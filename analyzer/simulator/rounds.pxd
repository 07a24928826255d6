# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.back_end.reorder_buffer cimport ReorderBuffer
from cyclelens.analyzer.simulator.period cimport Period, Repeating
from cyclelens.analyzer.simulator.tables.arrays cimport Record
from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.program cimport Program



cdef class Rounds(Repeating):
    cdef public Columns columns
    cdef public Program program
    cdef public ReorderBuffer reorder_buffer
    cdef Period _period
    cdef public int cycle
    cdef public int visited
    cdef public int least_cycles
    cdef public int period_cycles
    cdef public int period_rounds
    cdef public int period_begin
    cdef public int period_first_round
    cdef void start_clock(self, bint shown) noexcept
    cdef int record(self, Record state) except -1
    cdef int record_stages(self, Record state) except -1
    cdef bint stays(self, int rounds, int periods) except -1
    cdef bint repeats(self, int min_rounds, int min_cycles) except -1
    cpdef int rounds_retired(self, int min_rounds, int min_cycles) except? -1
    cdef int issue_of_round(self, int round_number) noexcept
