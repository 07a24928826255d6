# Made by dev/declarations.py; do not edit.
cimport cython



@cython.final
cdef class Alternation:
    cdef public int toggles
    cdef inline void start(self) noexcept:
        self.toggles = 0
    cdef inline int next(self, int units) noexcept:
        self.toggles ^= units
        low = units & -units
        return low if self.toggles & low else units ^ low
