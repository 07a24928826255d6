# Made by dev/declarations.py; do not edit.
cimport cython



@cython.final
cdef class Alternation:
    cdef public int toggles
    cpdef void start(self) noexcept
    cdef int next(self, int units) noexcept
