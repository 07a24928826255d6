# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.arrays cimport Record

cdef int NONE
cdef int _DIGEST
cdef int _FIRST_LONE
cdef int _FIRST_SHOWN
cdef int _OUTLINES


cdef class Repeating:
    cdef bint between_instructions(self) noexcept
    cdef long long outline(self) noexcept
    cdef int record(self, Record state) except -1


@cython.final
cdef class Period:
    cdef Record _state
    cdef Record _newest
    cdef Record _middle
    cdef Record _oldest
    cdef Record _anchor
    cdef int[::1] _outlines
    cdef bint _shown
    cdef int _newest_outline
    cdef int _middle_outline
    cdef int _oldest_outline
    cdef int _next_again
    cdef int _next_lone
    cdef inline void start(self, bint shown) noexcept:
        self._shown = shown
        self._newest_outline = -1
        self._middle_outline = -1
        self._oldest_outline = -1
        for slot in range(64):
            self._outlines[slot] = -1
        self._next_again = 0
        self._next_lone = 24 if shown else 200
    @cython.locals(again=cython.bint)
    cdef bint found(self, Repeating pipeline, int cycle) except -1
    cdef int _digest(self, long long outline) noexcept
    @cython.locals(again=cython.bint)
    cdef bint _comes_again(self, int outline) noexcept
    cdef bint _equals(self, Record anchor, Repeating pipeline) except -1
