# Made by dev/declarations.py; do not edit.
cimport cython

cdef int _INCREMENT
cdef long long _MODULUS
cdef int _MULTIPLIER
cdef int _USED_BITS


@cython.final
cdef class Chance:
    cdef long long _seed
    cdef public long long state
    cdef inline void start(self) noexcept:
        self.state = self._seed
    cdef int one_of(self, int units) noexcept
