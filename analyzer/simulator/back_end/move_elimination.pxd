# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.back_end.elimination cimport Elimination
from cyclelens.analyzer.simulator.tables.arrays cimport Record
from cyclelens.analyzer.simulator.tables.program cimport Program

cdef int _CLASSES
cdef int _GPR


cdef class SharedSlots(Elimination):
    cdef Program _program
    cdef int[::1] _slots
    cdef public int length
    cdef bint _all_gpr
    cdef public int[::1] now
    cdef public int[::1] eliminated
    cdef public int[::1] shared
    cdef int[::1] _recent
    cdef int _issue_width
    cdef public int entries
    cdef public int[::1] entry_class
    cdef public int oldest
    cdef public int[::1] entry_value
    cdef public long long[::1] entry_mask
    cdef int start(self) except -1
    cdef int record(self, Record state, int[::1] value) except -1
    cdef void start_cycle(self) noexcept
    cdef bint decide(self, int register_class) noexcept
    @cython.locals(keeps=cython.bint)
    cdef void decided(self) noexcept
    cdef void _move(self, int entry, int target) noexcept
    @cython.locals(both=cython.longlong)
    cdef void share(self, int value, int source, int target) noexcept
    cdef void overwrite(self, int value, int key) noexcept
    cdef int _find(self, int register_class, int value) noexcept
    cdef void end_cycle(self) noexcept
