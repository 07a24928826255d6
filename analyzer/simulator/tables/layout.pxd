# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.arrays cimport PairQueue
from cyclelens.analyzer.simulator.tables.program cimport Program

cdef int CODE_LINE
cdef int FETCH_BLOCK
cdef int NONE
cdef int _HALF


@cython.final
cdef class Layout:
    cdef public Program program
    cdef public int block_bytes
    cdef public int fetch_bytes
    cdef int _slots
    cdef int _lines_per_block
    cdef bint _large_immediates
    cdef bint _crowds
    cdef bint _empty_blocks
    cdef bint _both_halves
    cdef int _room
    cdef int _entry_room
    cdef int _length
    cdef public int blocks
    cdef public int lines
    cdef public int entries
    cdef public int first_group_end
    cdef public int all_cacheable
    cdef public int erratum
    cdef int[::1] _told
    cdef public int[::1] address
    cdef public int[::1] cached
    cdef public int[::1] block_first
    cdef public int[::1] block_end
    cdef public int[::1] block_cacheable
    cdef public int[::1] block_line0
    cdef public int[::1] block_line_end
    cdef public int[::1] line_first
    cdef public int[::1] line_end
    cdef public int[::1] entry_instruction
    cdef public int[::1] entry_idq_uop
    cdef public int[::1] entry_extra_slot
    cdef public int[::1] entry_ms
    cdef public int[::1] entry_last
    cdef public int[::1] entry_plain
    cdef int start(self) except -1
    cdef void _tell(self, int[:] column, int count) noexcept
    cdef void _tell_number(self, int number) noexcept
    cdef int _make(self, int count, int entries) except -1
    @cython.locals(cacheable=cython.bint)
    cdef void _find_blocks(self) noexcept
    cdef void _find_cached(self, bint both_halves) noexcept
    @cython.locals(ms=cython.bint, last_decoded=cython.bint)
    cdef void _fill_lines(self, int first, int end) noexcept
    cdef bint _too_many_lcps(self, int first, int end) noexcept
    cdef bint _is_fusible_lcp(self, int i) noexcept
    cdef inline bint next_is_cached(self, int instruction) noexcept:
        if instruction >= self.program.key_instruction:
            return self.cached[0] != 0
        return self.cached[instruction + 1] != 0
    cdef void queue_fetch_blocks(self, PairQueue blocks, int first, int end, int start) noexcept
