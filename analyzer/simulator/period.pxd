# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.arrays cimport Record

cdef int NONE
cdef int _DIGEST
cdef int _FIRST_ANCHOR


cdef class Repeating:
    cdef bint between_instructions(self) noexcept
    cdef long long outline(self) noexcept
    cdef int record(self, Record state) except -1


@cython.final
cdef class Period:
    cdef Record _state
    cdef Record _newer
    cdef Record _older
    cdef Record _anchor
    cdef long long _newer_outline
    cdef long long _older_outline
    cdef int _next_anchor
    cdef void start(self) noexcept
    @cython.locals(outline=cython.longlong)
    cdef bint found(self, Repeating pipeline, int cycle) except -1
    cdef bint _equals(self, Record anchor, Repeating pipeline) except -1
