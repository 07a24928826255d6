# Made by dev/declarations.py; do not edit.
cimport cython

cdef int FOREVER
cdef int NONE
cdef int NO_SOURCE
cdef int UNKNOWN


cdef class FlightColumns:
    cdef int _instances_ready
    cdef public int[::1] instance_uop0
    cdef public int[::1] place
    cdef public int[::1] address
    cdef public int[::1] predecoded
    cdef public int[::1] removed
    cdef int _uops_ready
    cdef public int[::1] instance
    cdef public int[::1] position
    cdef public int[::1] static
    cdef public int[::1] source
    cdef public int[::1] added
    cdef public int[::1] issued
    cdef public int[::1] ready
    cdef public int[::1] dispatched
    cdef public int[::1] executed
    cdef public int[::1] retired
    cdef public int[::1] port
    cdef public int[::1] store
    cdef public int[::1] latency_bonus
    cdef public int[::1] first_input
    cdef public int[::1] first_result
    cdef public int[::1] pending
    cdef public int[::1] latest
    cdef public int[::1] next_uop
    cdef public int[::1] blocked
    cdef public int[::1] renamed
    cdef public int[::1] collided
    cdef public int[::1] words
    cdef public int[::1] late_by
    cdef public int[::1] held
    cdef public int[::1] allowed
    cdef public int[::1] last_input
    cdef public int[::1] inputs_ready
    cdef public int[::1] queued
    cdef public int[::1] behind
    cdef int _inputs_ready
    cdef public int[::1] input_value
    cdef public int[::1] input_uop
    cdef public int[::1] input_next
    cdef int _values_ready
    cdef public int[::1] value_ready
    cdef public int[::1] value_uop
    cdef public int[::1] value_latency
    cdef public int[::1] value_zero
    cdef public int[::1] value_waiters
    cdef int _stores_ready
    cdef public int[::1] store_address
    cdef public int[::1] store_data
    cdef public int[::1] store_waiters
    cdef public int[::1] store_scale
    cdef public int[::1] store_displacement
    cdef public int[::1] store_bytes
    cdef public int[::1] store_uop
    cdef public int[::1] store_last
    cdef public int[::1] store_left
    cdef public int[::1] store_value
    cdef public int[::1] store_late
    cdef public long long[::1] store_base
    cdef public long long[::1] store_index
    cdef int _cycles_ready
    cdef public int[::1] refusal
    cdef public int[::1] refused_by
    cdef public int[::1] unfinished
    cdef void _forget(self) noexcept
    cdef int _more_instances(self, int end) except -1
    cdef void _fill_instances_0(self, int begin, int end) noexcept
    cdef int _more_uops(self, int end) except -1
    cdef void _fill_uops_0(self, int begin, int end) noexcept
    cdef void _fill_uops_1(self, int begin, int end) noexcept
    cdef void _fill_uops_2(self, int begin, int end) noexcept
    cdef int _more_inputs(self, int end) except -1
    cdef int _more_values(self, int end) except -1
    cdef void _fill_values_0(self, int begin, int end) noexcept
    cdef int _more_stores(self, int end) except -1
    cdef void _fill_stores_0(self, int begin, int end) noexcept
    cdef void _fill_stores_1(self, int begin, int end) noexcept
    cdef int _more_cycles(self, int end) except -1


cdef class BlockColumns:
    cdef int _instructions_room
    cdef int[::1] _instructions_table
    cdef public int[::1] i_length
    cdef public int[::1] i_opcode
    cdef public int[::1] i_lcp
    cdef public int[::1] i_branch
    cdef public int[::1] i_jump
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
    cdef public int[::1] i_adds
    cdef public int[::1] i_added
    cdef public int[::1] i_offset_key0
    cdef public int[::1] i_offset_key1
    cdef public int[::1] i_takes_over
    cdef public int[::1] i_joins
    cdef public int[::1] i_serializing
    cdef public int[::1] i_load_fence
    cdef public int[::1] i_store_fence
    cdef public int[::1] i_tp
    cdef public int[::1] i_symbol_source
    cdef public int[::1] i_pointer_load
    cdef public int[::1] i_wait
    cdef public int[::1] i_outputs_count
    cdef public int[::1] i_merge_count
    cdef public int[::1] i_fused_count
    cdef public int[::1] i_operands_count
    cdef public int[::1] i_results_count
    cdef public int[::1] i_offset
    cdef public int[::1] i_idq0
    cdef public int[::1] i_uop0
    cdef public int[::1] i_outputs0
    cdef public int[::1] i_merge0
    cdef public int[::1] i_tp_name
    cdef public long long[::1] i_symbol_delta
    cdef public int[::1] i_value_kind
    cdef public int[::1] i_value_base
    cdef public int[::1] i_value_index
    cdef public int[::1] i_value_scale
    cdef public long long[::1] i_value_delta
    cdef int _outputs_room
    cdef int[::1] _outputs_table
    cdef public int[::1] output_key
    cdef int _merges_room
    cdef int[::1] _merges_table
    cdef public int[::1] merge_key
    cdef int _idq_uops_room
    cdef int[::1] _idq_uops_table
    cdef public int[::1] q_fused_count
    cdef public int[::1] q_fused0
    cdef public int[::1] q_instruction
    cdef public int[::1] q_uop0
    cdef int _fused_uops_room
    cdef int[::1] _fused_uops_table
    cdef public int[::1] f_uop_count
    cdef public int[::1] f_uop0
    cdef int _uops_room
    cdef int[::1] _uops_table
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
    cdef public int[::1] u_instruction
    cdef int _operands_room
    cdef int[::1] _operands_table
    cdef public int[::1] in_internal
    cdef public int[::1] in_key
    cdef int _results_room
    cdef int[::1] _results_table
    cdef public int[::1] out_internal
    cdef public int[::1] out_key
    cdef public int[::1] out_latency
    cdef void _reserve_instructions(self, int count) except *
    cdef void _reserve_outputs(self, int count) except *
    cdef void _reserve_merges(self, int count) except *
    cdef void _reserve_idq_uops(self, int count) except *
    cdef void _reserve_fused_uops(self, int count) except *
    cdef void _reserve_uops(self, int count) except *
    cdef void _reserve_operands(self, int count) except *
    cdef void _reserve_results(self, int count) except *
