# Made by dev/declarations.py; do not edit.
cimport cython



cdef class LateOperands:
    cdef void weigh(self, int uop, int cycle, int place) noexcept
