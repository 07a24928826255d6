# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.back_end.late_operands cimport LateOperands
from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.in_flight cimport InFlight
from cyclelens.analyzer.simulator.tables.operations cimport Operations
from cyclelens.analyzer.simulator.tables.program cimport Program

cdef int COMPUTE
cdef int LOAD
cdef int NONE
cdef int STORE_ADDRESS
cdef int UNKNOWN
cdef int _EIGHTHS
cdef int _OWN_RESULT


cdef class WastedSlots(LateOperands):
    cdef Columns _columns
    cdef Program _program
    cdef Operations _operations
    cdef InFlight _flight
    cdef int _alus
    cdef int _branch_alus
    cdef int _fresh
    cdef int _fresh_decoded
    cdef int _after_load
    cdef int _in_chain
    cdef int _near
    cdef int _branch_fresh
    cdef int _branch_waiting
    cdef int _to_branch
    cdef int _to_multiplier
    cdef int _to_any
    cdef int _between
    cdef int _address_alu
    cdef int _address_load
    cdef void weigh(self, int uop, int cycle, int place) noexcept
    cdef void _weigh_load(self, int uop, int slot, int cycle) noexcept
    @cython.locals(waits=cython.bint)
    cdef void _weigh_operation(self, int uop, int slot, int mask, int cycle, int place) noexcept
    cdef int _weight(self, int producer, int producer_mask, int mask, int place) noexcept
    cdef int _alu_of(self, int value) noexcept
