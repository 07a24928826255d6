# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.back_end.memory_renaming cimport MemoryRenaming

cdef int COMPUTE
cdef int NONE
cdef int SIMD_CLASS
cdef int _APART
cdef int _LATER
cdef int _SLOW
cdef int _SOON
cdef int _WHOLE
cdef int _WORD


cdef class LearntPairs(MemoryRenaming):
    @cython.locals(vector=cython.bint, computed=cython.bint)
    cdef void stored(self, int store, int value, int key, int owed) noexcept
    cpdef int value(self, int uop, int i, int store) noexcept
