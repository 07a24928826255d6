# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.program cimport Program

cdef int _FIELDS
cdef int _MOVES
cdef int _NO_PAIR


@cython.final
cdef class Operations:
    cdef public Program program
    cdef object _microarchitecture
    cdef public int instruction_pointer
    cdef public bint small_loop
    cdef public bint still
    cdef public bint decoded
    cdef public int[::1] w_last
    cdef public int[::1] w_eighths
    cdef public int[::1] m_decode_slots
    cdef public int[::1] m_vector_ops
    cdef public int[::1] m_begins_group
    cdef public int[::1] m_ends_group
    cdef public int[::1] m_serializing
    cdef public int[::1] m_pair_source
    cdef public int[::1] m_pair_target
    cdef public int[::1] m_load_seen
    cdef public int[::1] e_kind
    cdef public int[::1] e_target
    cdef public int[::1] e_source
    cdef public int[::1] e_index
    cdef public int[::1] e_scale
    cdef public int[::1] e_operation
    cdef public int[::1] e_target_bits
    cdef public int[::1] e_high
    cdef public int[::1] e_memory
    cdef public int[::1] e_memory_bits
    cdef public int[::1] e_relative
    cdef public long long[::1] e_constant
    cdef public int[::1] e_unknown
    cdef public int[::1] e_followed
    cdef public int[::1] t_traits
    cdef public int[::1] t_busy
    cdef public int[::1] late
    cdef int _make(self, int instructions, int uops, int inputs) except -1
    cdef int _lay_out(self, object block) except -1
    cdef inline bint follows_place(self) noexcept:
        program = self.program
        relative = 0
        for i in range(program.instructions):
            if self.e_relative[i]:
                relative += 1
        for static in range(program.uops):
            if program.u_base[static] == self.instruction_pointer:
                relative += 1
        return relative > 0
    cdef int _pair(self, object block, int move, int operation) except -1
    cdef void _costs_and_effect(self, int i, long long[::1] row) noexcept
