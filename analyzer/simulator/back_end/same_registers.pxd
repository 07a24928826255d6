# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.back_end.load_renaming cimport LoadRenaming
from cyclelens.analyzer.simulator.tables.arrays cimport Record

cdef int NONE
cdef int _HASH
cdef int _NARROWEST
cdef int _READ_MODIFY_WRITE
cdef int _VECTOR


cdef class SameRegisters(LoadRenaming):
    cdef int _learnt
    cdef int _unlearnt
    cdef int _unkeyed
    cdef void start(self) noexcept
    cdef int record(self, Record state) except -1
    cdef bint takes_over(self, int uop, int store, int base, int index) noexcept
    cdef bint mistakes(self, int uop, int store, int base, int index) noexcept
    cdef bint _same(self, int static, int slot, int base, int index) noexcept
    cdef bint _knows(self, int uop) noexcept
