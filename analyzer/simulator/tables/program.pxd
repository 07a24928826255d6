cimport cython

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
cdef class Program:
    cdef public bint loop
    cdef public bint exact_memory
    cdef public bint simple_front_end
    cdef public int alignment
    cdef public int instructions
    cdef public int keys
    cdef public int rsp
    cdef public int rbp
    cdef public int key_instruction
    cdef public int has_special
    cdef public int has_fences
    cdef public int has_moves
    cdef public int longest_wait
    cdef public int tp_names
    cdef public int most_merges
    cdef public int most_fused
    cdef public int size
    cdef public int uops
    cdef public int idq_uops
    cdef public int sync_idq
    cdef public int[::1] key_class
    cdef public long long[::1] key_bit
    cdef public int[::1] i_length
    cdef public int[::1] i_opcode
    cdef public int[::1] i_lcp
    cdef public int[::1] i_branch
    cdef public int[::1] i_second
    cdef public int[::1] i_first
    cdef public int[::1] i_fusible
    cdef public int[::1] i_complex
    cdef public int[::1] i_simple_decoders
    cdef public int[::1] i_mite_uops
    cdef public int[::1] i_ms_uops
    cdef public int[::1] i_extra_slot
    cdef public int[::1] i_jcc
    cdef public int[::1] i_idq_count
    cdef public int[::1] i_decoded_count
    cdef public int[::1] i_uop_count
    cdef public int[::1] i_rsp_change
    cdef public int[::1] i_rsp_explicit
    cdef public int[::1] i_rsp_written
    cdef public int[::1] i_high8_written
    cdef public int[::1] i_no_uops
    cdef public int[::1] i_eliminable
    cdef public int[::1] i_move_source
    cdef public int[::1] i_move_target
    cdef public int[::1] i_move_32
    cdef public int[::1] i_serializing
    cdef public int[::1] i_load_fence
    cdef public int[::1] i_store_fence
    cdef public int[::1] i_tp
    cdef public int[::1] i_symbol_source
    cdef public int[::1] i_pointer_load
    cdef public int[::1] i_wait
    cdef public int[::1] i_outputs_count
    cdef public int[::1] i_merge_count
    cdef public int[::1] i_value_kind
    cdef public int[::1] i_value_base
    cdef public int[::1] i_value_index
    cdef public int[::1] i_value_scale
    cdef public int[::1] i_offset
    cdef public int[::1] i_idq0
    cdef public int[::1] i_uop0
    cdef public int[::1] i_outputs0
    cdef public int[::1] i_merge0
    cdef public int[::1] i_tp_name
    cdef public long long[::1] i_symbol_delta
    cdef public long long[::1] i_value_delta
    cdef public int[::1] output_key
    cdef public int[::1] used_key
    cdef public int[::1] merge_key
    cdef public int[::1] merge_uop
    cdef public int[::1] u_kind
    cdef public int[::1] u_port_mask
    cdef public int[::1] u_divider
    cdef public int[::1] u_first
    cdef public int[::1] u_last
    cdef public int[::1] u_in_count
    cdef public int[::1] u_out_count
    cdef public int[::1] u_has_address
    cdef public int[::1] u_base
    cdef public int[::1] u_index
    cdef public int[::1] u_scale
    cdef public int[::1] u_displacement
    cdef public int[::1] u_pointer_chasing
    cdef public int[::1] u_wide
    cdef public int[::1] u_bytes
    cdef public int[::1] u_stack_offset
    cdef public int[::1] u_in0
    cdef public int[::1] u_out0
    cdef public int[::1] in_internal
    cdef public int[::1] in_key
    cdef public int[::1] out_internal
    cdef public int[::1] out_key
    cdef public int[::1] out_latency
    cdef public int[::1] q_fused_count
    cdef public int[::1] q_fused0
    cdef public int[::1] q_instruction
    cdef public int[::1] f_uop_count
    cdef public int[::1] f_uop0
    cdef public int all_idq_uops
    cdef public int all_fused_uops
    cdef public int all_uops
    cdef public int inputs
    cdef public int outputs
    cdef public int registers
    cdef public int merges
    cdef public int used_keys
    cdef int _instruction_room
    cdef int _uop_room
    cdef int _input_room
    cdef int _output_room
    cdef int _register_room
    cdef int _queue_room
    cdef int[::1] _instruction_table
    cdef int[::1] _uop_table
    cdef int[::1] _input_table
    cdef int[::1] _output_table
    cdef int[::1] _used
    cdef int _reserve_keys(self) except -1
    cdef int _measure(self, int[::1] rows) except -1
    cdef void _spread(self, int[::1] rows) noexcept
    cdef int _number(self) except -1
    cdef int _sum_up(self, list flats) except -1
    cdef int _find_used_keys(self) except -1
    cdef void _mark(self, int[::1] keys, int count) noexcept
    cdef int _reserve(self) except -1
    cdef int _cut_instruction_columns(self, int room) except -1
    cdef int _cut_uop_columns(self, int room) except -1


cdef void _transpose(
    int[::1] rows, int place, int[::1] table, int room, int first, int count, int fields
) noexcept
cdef void _copy(int[::1] rows, int place, int[::1] column, int first, int count) noexcept
