# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.arrays cimport PairQueue, Record
from cyclelens.analyzer.simulator.tables.columns cimport Columns
from cyclelens.analyzer.simulator.tables.program cimport Program

cdef int ELIMINATED
cdef int MOST_UNITS
cdef int NONE
cdef int _IMBALANCE
cdef int _IMBALANCE_TEN
cdef int _INCREMENT
cdef long long _MODULUS
cdef int _MULTIPLIER
cdef int _USED_BITS


@cython.final
cdef class PortAssignment:
    cdef Columns _columns
    cdef Program _program
    cdef PairQueue _issued
    cdef int _ports
    cdef int _alus
    cdef int _loads
    cdef int _store_addresses
    cdef int _store_data
    cdef int _policy
    cdef bint _random
    cdef long long _seed
    cdef public int[::1] usage
    cdef public int[::1] snapshot
    cdef public int[::1] previous
    cdef int[::1] _ranked
    cdef int[::1] _sets
    cdef int[::1] _by_slot
    cdef public long long state
    cdef public int toggles
    cdef int _sets_count
    cpdef void start(self) noexcept
    cdef void tick(self) noexcept
    cdef bint settled(self) noexcept
    cdef int usage_digest(self) noexcept
    cdef int record(self, Record state) except -1
    cdef int _choose(self, int ports, int slot) noexcept
    cdef int _emptiest(self, int ports) noexcept
    cdef int _any(self, int ports) noexcept
    cdef int _least_used(self, int ports, bint ties_to_highest) noexcept
    cdef int _most_used(self, int ports) noexcept
    cdef int _toggle(self, int ports) noexcept
    cdef int _only(self, int ports) noexcept
    cdef int _choose_of_ten(self, int ports, int slot) noexcept
