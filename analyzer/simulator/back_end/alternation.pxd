# Made by dev/declarations.py; do not edit.
cimport cython



@cython.final
cdef class Alternation:
    cdef public int toggles
    cdef void start(self) noexcept
    cdef int next(self, int units) noexcept
