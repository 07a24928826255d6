# Made by dev/declarations.py; do not edit.
cimport cython

from cyclelens.analyzer.simulator.tables.column_classes cimport BlockColumns
from cyclelens.analyzer.simulator.tables.flat cimport FlatInstruction

cdef int INSTRUCTIONS_ROW
cdef int STORE_ADDRESS
cdef int UOPS_ROW
cdef int _FUSED
cdef int _IDQ_COUNT
cdef int _INSTRUCTION_FIELDS
cdef int _MERGES
cdef int _OPERANDS
cdef int _OUTPUTS
cdef int _RESULTS
cdef int _SINGLES
cdef int _UOP_COUNT
cdef int _UOP_FIELDS


@cython.final
cdef class Program(BlockColumns):
    cdef public int keys
    cdef public int rsp
    cdef public int rip
    cdef public int rbp
    cdef object _core
    cdef object _options
    cdef int[::1] _singles
    cdef int[::1] _rows
    cdef int[::1] _merged
    cdef public bint loop
    cdef public int alignment
    cdef public int instructions
    cdef public int first_instruction
    cdef public int key_instruction
    cdef public bint exact_memory
    cdef public bint exact_values
    cdef public bint simple_front_end
    cdef public int[::1] key_class
    cdef public long long[::1] key_bit
    cdef public int[::1] merge_uop
    cdef public int[::1] used_key
    cdef public int[::1] address_key
    cdef int[::1] _used
    cdef public int registers
    cdef public int merges
    cdef public int all_idq_uops
    cdef public int all_fused_uops
    cdef public int all_uops
    cdef public int inputs
    cdef public int outputs
    cdef public int size
    cdef public int uops
    cdef public int idq_uops
    cdef public int most_fused
    cdef public int sync_idq
    cdef public int has_fences
    cdef public int has_moves
    cdef public int holds_issue
    cdef public int moves_stack
    cdef public int has_joins
    cdef public int most_merges
    cdef public int has_special
    cdef public int longest_wait
    cdef public int adds_uops
    cdef public int tp_names
    cdef public int compares_addresses
    cdef public int used_keys
    cdef public int address_keys
    cdef int _choose(self, object microarchitecture, object options) except -1
    cdef int _reserve_keys(self) except -1
    @cython.locals(flat=FlatInstruction)
    cdef int _collect(self, list flats) except -1
    cdef int _measure(self, int[::1] rows) except -1
    cdef void _spread(self, int[::1] rows) noexcept
    cdef void _number(self) noexcept
    @cython.locals(flat=FlatInstruction)
    cdef int _sum_up(self, list flats) except -1
    cdef void _find_used_keys(self) noexcept
    cdef void _find_address_keys(self) noexcept
    cdef int _mark_sources(self) noexcept
    cdef int _mark_new(self, int key) noexcept
    cdef void _mark(self, int[:] keys, int count) noexcept
    cdef int _reserve(self) except -1


cdef void _copy(int[::1] rows, int place, int[::1] table, int first, int count) noexcept
