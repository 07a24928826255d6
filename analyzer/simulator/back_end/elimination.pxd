# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.arrays cimport Record



cdef class Elimination:
    cdef public long long members
    cdef int start(self) except -1
    cdef void start_cycle(self) noexcept
    cdef bint decide(self, int register_class) noexcept
    cdef void decided(self) noexcept
    cdef void share(self, int value, int source, int target) noexcept
    cdef void overwrite(self, int value, int key) noexcept
    cdef void end_cycle(self) noexcept
    cdef void pass_by(self, int cycles) noexcept
    cdef int record(self, Record state, int[::1] value) except -1
