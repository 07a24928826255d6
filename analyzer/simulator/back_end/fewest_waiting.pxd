# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.back_end.binding cimport Binding
from cyclelens.analyzer.simulator.back_end.chance cimport Chance
from cyclelens.analyzer.simulator.back_end.turns cimport Turns
from cyclelens.analyzer.simulator.tables.arrays cimport Record

cdef int NONE
cdef int _IMBALANCE
cdef int _MANY


cdef class FewestWaiting(Binding):
    cdef int[::1] _turns
    cdef int start(self) except -1
    cdef int choose(self, int units, int slot) noexcept
    cdef int record(self, Record state) except -1


cdef class LoadsInTurn(FewestWaiting):
    cdef int _loads
    cdef Turns _load_turns
    cdef int start(self) except -1
    cdef int choose(self, int units, int slot) noexcept
    cdef int among(self, int units) noexcept
    cdef int record(self, Record state) except -1


cdef class LeastBound(LoadsInTurn):
    cdef int among(self, int units) noexcept


cdef class NearChance(LoadsInTurn):
    cdef Chance _chance
    cdef int start(self) except -1
    cdef int record(self, Record state) except -1
    cdef int among(self, int units) noexcept
