# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.flat cimport FlatInstruction

cdef int NONE
cdef int _MOST_KEPT
cdef int _MOST_KEYS


@cython.final
cdef class Alike:
    cdef object _core
    cdef object _options
    cdef bint _names_only
    cdef bint _place_unknown
    cdef int _place
    cdef bint _several_places
    cdef bint _stores_differ
    cdef dict _kinds
    cdef dict _known
    cdef object _numbers
    cdef int _block
    cdef int[::1] _met
    cdef int[::1] _places
    cdef public dict figures
    @cython.locals(stores=cython.bint, met=cython.int, flat=FlatInstruction, key=cython.int)
    cdef object _key(self, object block)
    cdef int tell(self, FlatInstruction flat) except -1
    cdef bytes _kinds_of(self, tuple kind, FlatInstruction flat)
