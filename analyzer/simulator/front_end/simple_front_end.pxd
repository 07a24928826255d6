# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.front_end.front_end cimport FrontEnd
from cyclelens.analyzer.simulator.front_end.stack_engine cimport StackEngine
from cyclelens.analyzer.simulator.tables.arrays cimport PairQueue, Record
from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.program cimport Program

cdef int CODE_LINE
cdef int NEVER
cdef int NO_SOURCE


cdef class SimpleFrontEnd(FrontEnd):
    cdef Columns _columns
    cdef Program _program
    cdef PairQueue _delivered
    cdef PairQueue _idq
    cdef StackEngine _stack_engine
    cdef int _width
    cdef int _idq_size
    cdef int _instance
    cdef int start(self) except -1
    cdef int idle(self) noexcept
    cdef int record(self, Record state) except -1
    cdef int tick(self, int cycle) except -1
    cdef bint _rests(self) noexcept
    cdef void _deliver(self) noexcept
