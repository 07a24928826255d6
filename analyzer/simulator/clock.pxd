# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.rounds cimport Rounds

cdef int NEVER
cdef int NONE
cdef int _CANCEL_INTERVAL
cdef int _STUCK_CYCLES


cdef class Clock(Rounds):
    cdef int tick(self) except -1
    cdef int next_event(self) noexcept
    cdef int next_of(self, int following) noexcept
    cdef int skip_to(self, int following) except -1
    cpdef double pace(self, int min_rounds, int min_cycles) except? -1
    cdef int _run(self, int min_rounds, int min_cycles, bint stop_at_period, bint skip, object cancel) except -1
