# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.back_end.picker cimport Picker
from cyclelens.analyzer.simulator.tables.arrays cimport Record
from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.in_flight cimport InFlight
from cyclelens.analyzer.simulator.tables.operations cimport Operations
from cyclelens.analyzer.simulator.tables.program cimport Program

cdef int LOAD
cdef int NEVER
cdef int NONE
cdef int QUEUED_FOR_DIVIDER
cdef int QUEUED_FOR_PORT
cdef int STORE_ADDRESS
cdef int _ADDRESS
cdef int _ALONE
cdef int _DIVIDES
cdef int _EIGHTHS
cdef int _INTEGER
cdef int _MASK_TRAIT
cdef int _ROOM
cdef int _VECTOR
cdef int _VECTOR_TRAIT
cdef int _WIDE


cdef class OldestReady(Picker):
    cdef Columns _columns
    cdef Program _program
    cdef Operations _operations
    cdef InFlight _flight
    cdef int _units
    cdef int _delay
    cdef int _integer_units
    cdef int _special
    cdef int _address_mask
    cdef int _vector_mask
    cdef int[::1] _pipes
    cdef int _integer_count
    cdef int _loads
    cdef int _vector_loads
    cdef int _mixed
    cdef int _stores
    cdef int _address_units
    cdef int _mask_operations
    cdef int _pickable
    cdef int _multiplication
    cdef int _multiply_mask
    cdef int[::1] _ready
    cdef int[::1] _counts
    cdef int[::1] _latest
    cdef int[::1] _busy
    cdef int _admitted
    cdef int _last_admitted
    cdef int _integers_busy
    cdef int _divider_free
    cdef int _vector_divider_free
    cdef int _alone_free
    cdef int _integer_debt
    cdef int _address_debt
    cdef int start(self, int most) except -1
    cdef void tick(self, int cycle) noexcept
    cdef int next_event(self, int cycle) noexcept
    cdef int _free_for(self, int uop, int scheduler) noexcept
    cdef int _first_free(self, int units) noexcept
    cdef int _after(self, int time, int cycle, int static) noexcept
    cdef int record(self, Record state) except -1
    cdef int _record_eighth(self, Record state, int time) except -1
    cdef void admit(self, int first) noexcept
    cdef void _admit(self, int uop) noexcept
    cdef void _pick_integer(self, int cycle) noexcept
    cdef int _choose(self, int mask) noexcept
    @cython.locals(loads_vector=cython.bint, fits=cython.bint)
    cdef void _pick_addresses(self, int cycle) noexcept
    cdef int _wasted(self, int uop, int slot, int cycle) noexcept
    cdef bint _wastes_address(self, int uop, int cycle) noexcept
    cdef void _pick_vectors(self, int cycle) noexcept
    cdef int _choose_pipe(self, int mask) noexcept
    cdef int _lowest(self, int mask) noexcept
    @cython.locals(taken=cython.bint)
    cdef void _take(self, int uop, int static, int unit, int cycle) noexcept
