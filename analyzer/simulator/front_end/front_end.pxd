# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.arrays cimport Record

cdef int NEVER


cdef class FrontEnd:
    cdef public int lsd_unroll
    cdef int start(self) except -1
    cdef int tick(self, int cycle) except -1
    cdef int idle(self) noexcept
    cdef void skip(self, int cycles) noexcept
    cdef int record(self, Record state) except -1
    cdef int outline(self) noexcept
