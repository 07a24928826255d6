# Made by dev/declarations.py; do not edit.
cimport cython


cdef struct instances_row:
    int instance_uop0
    int place
    int address
    int predecoded
    int removed
    int unused[3]


cdef struct uops_row:
    int instance
    int position
    int static
    int next_uop
    int issued
    int ready
    int dispatched
    int executed
    int port
    int store
    int latency_bonus
    int blocked
    int first_input
    int first_result
    int pending
    int latest
    int added
    int retired
    int source
    int held
    int renamed
    int collided
    int words
    int late_by
    int queued
    int behind
    int allowed
    int last_input
    int inputs_ready
    int unused[3]


cdef struct inputs_row:
    int input_value
    int input_uop
    int input_next
    int unused[1]


cdef struct values_row:
    int value_ready
    int value_uop
    int value_latency
    int value_zero
    int value_waiters
    int unused[3]


cdef struct stores_row:
    int store_address
    int store_data
    int store_waiters
    int store_scale
    int store_displacement
    int store_bytes
    int store_uop
    int store_last
    int store_left
    int store_value
    int store_late
    int unused[5]


cdef struct cycles_row:
    int refusal
    int refused_by
    int unfinished
    int unused[1]


cdef struct i_row:
    int i_length
    int i_opcode
    int i_lcp
    int i_branch
    int i_jump
    int i_second
    int i_first
    int i_fusible
    int i_complex
    int i_simple_decoders
    int i_mite_uops
    int i_ms_uops
    int i_extra_slot
    int i_jcc
    int i_idq_count
    int i_decoded_count
    int i_uop_count
    int i_rsp_change
    int i_rsp_step
    int i_rsp_explicit
    int i_rsp_written
    int i_high8_written
    int i_no_uops
    int i_eliminable
    int i_move_source
    int i_move_target
    int i_move_32
    int i_adds
    int i_added
    int i_offset_key0
    int i_offset_key1
    int i_takes_over
    int i_joins
    int i_serializing
    int i_load_fence
    int i_store_fence
    int i_tp
    int i_symbol_source
    int i_pointer_load
    int i_wait
    int i_outputs_count
    int i_merge_count
    int i_fused_count
    int i_operands_count
    int i_results_count
    int i_offset
    int i_idq0
    int i_uop0
    int i_outputs0
    int i_merge0
    int i_tp_name
    int i_value_kind
    int i_value_base
    int i_value_index
    int i_value_scale
    int unused[9]


cdef struct output_row:
    int output_key


cdef struct merge_row:
    int merge_key


cdef struct q_row:
    int q_fused_count
    int q_fused0
    int q_instruction
    int q_uop0


cdef struct f_row:
    int f_uop_count
    int f_uop0


cdef struct u_row:
    int u_kind
    int u_port_mask
    int u_divider
    int u_first
    int u_last
    int u_in_count
    int u_out_count
    int u_has_address
    int u_base
    int u_index
    int u_scale
    int u_displacement
    int u_pointer_chasing
    int u_wide
    int u_bytes
    int u_stack_offset
    int u_in0
    int u_out0
    int u_instruction
    int unused[13]


cdef struct in_row:
    int in_internal
    int in_key


cdef struct out_row:
    int out_internal
    int out_key
    int out_latency
    int unused[1]


cdef class FlightColumns:
    cdef int _instances_room
    cdef int[::1] _instances_table
    cdef public int[:] instance_uop0
    cdef public int[:] place
    cdef public int[:] address
    cdef public int[:] predecoded
    cdef public int[:] removed
    cdef int _uops_room
    cdef int[::1] _uops_table
    cdef public int[:] instance
    cdef public int[:] position
    cdef public int[:] static
    cdef public int[:] next_uop
    cdef public int[:] issued
    cdef public int[:] ready
    cdef public int[:] dispatched
    cdef public int[:] executed
    cdef public int[:] port
    cdef public int[:] store
    cdef public int[:] latency_bonus
    cdef public int[:] blocked
    cdef public int[:] first_input
    cdef public int[:] first_result
    cdef public int[:] pending
    cdef public int[:] latest
    cdef public int[:] added
    cdef public int[:] retired
    cdef public int[:] source
    cdef public int[:] held
    cdef public int[:] renamed
    cdef public int[:] collided
    cdef public int[:] words
    cdef public int[:] late_by
    cdef public int[:] queued
    cdef public int[:] behind
    cdef public int[:] allowed
    cdef public int[:] last_input
    cdef public int[:] inputs_ready
    cdef int _inputs_room
    cdef int[::1] _inputs_table
    cdef public int[:] input_value
    cdef public int[:] input_uop
    cdef public int[:] input_next
    cdef int _values_room
    cdef int[::1] _values_table
    cdef public int[:] value_ready
    cdef public int[:] value_uop
    cdef public int[:] value_latency
    cdef public int[:] value_zero
    cdef public int[:] value_waiters
    cdef int _stores_room
    cdef int[::1] _stores_table
    cdef public int[:] store_address
    cdef public int[:] store_data
    cdef public int[:] store_waiters
    cdef public int[:] store_scale
    cdef public int[:] store_displacement
    cdef public int[:] store_bytes
    cdef public int[:] store_uop
    cdef public int[:] store_last
    cdef public int[:] store_left
    cdef public int[:] store_value
    cdef public int[:] store_late
    cdef public long long[::1] store_base
    cdef public long long[::1] store_index
    cdef int _cycles_room
    cdef int[::1] _cycles_table
    cdef public int[:] refusal
    cdef public int[:] refused_by
    cdef public int[:] unfinished
    cdef int _instances_ready
    cdef int _uops_ready
    cdef int _inputs_ready
    cdef int _values_ready
    cdef int _stores_ready
    cdef int _cycles_ready
    cdef instances_row* instances_rows
    cdef uops_row* uops_rows
    cdef inputs_row* inputs_rows
    cdef values_row* values_rows
    cdef stores_row* stores_rows
    cdef cycles_row* cycles_rows
    cdef inline void _point(self) noexcept:
        self.instances_rows = <instances_row*> &self._instances_table[0]
        self.uops_rows = <uops_row*> &self._uops_table[0]
        self.inputs_rows = <inputs_row*> &self._inputs_table[0]
        self.values_rows = <values_row*> &self._values_table[0]
        self.stores_rows = <stores_row*> &self._stores_table[0]
        self.cycles_rows = <cycles_row*> &self._cycles_table[0]
    cdef void _forget(self) noexcept
    cdef int _more_instances(self, int end) except -1
    cdef void _fill_instances(self, int begin, int end) noexcept
    cdef int _more_uops(self, int end) except -1
    cdef void _fill_uops(self, int begin, int end) noexcept
    cdef int _more_inputs(self, int end) except -1
    cdef int _more_values(self, int end) except -1
    cdef void _fill_values(self, int begin, int end) noexcept
    cdef int _more_stores(self, int end) except -1
    cdef void _fill_stores(self, int begin, int end) noexcept
    cdef int _more_cycles(self, int end) except -1


cdef class BlockColumns:
    cdef int _instructions_room
    cdef int[::1] _instructions_table
    cdef public int[:] i_length
    cdef public int[:] i_opcode
    cdef public int[:] i_lcp
    cdef public int[:] i_branch
    cdef public int[:] i_jump
    cdef public int[:] i_second
    cdef public int[:] i_first
    cdef public int[:] i_fusible
    cdef public int[:] i_complex
    cdef public int[:] i_simple_decoders
    cdef public int[:] i_mite_uops
    cdef public int[:] i_ms_uops
    cdef public int[:] i_extra_slot
    cdef public int[:] i_jcc
    cdef public int[:] i_idq_count
    cdef public int[:] i_decoded_count
    cdef public int[:] i_uop_count
    cdef public int[:] i_rsp_change
    cdef public int[:] i_rsp_step
    cdef public int[:] i_rsp_explicit
    cdef public int[:] i_rsp_written
    cdef public int[:] i_high8_written
    cdef public int[:] i_no_uops
    cdef public int[:] i_eliminable
    cdef public int[:] i_move_source
    cdef public int[:] i_move_target
    cdef public int[:] i_move_32
    cdef public int[:] i_adds
    cdef public int[:] i_added
    cdef public int[:] i_offset_key0
    cdef public int[:] i_offset_key1
    cdef public int[:] i_takes_over
    cdef public int[:] i_joins
    cdef public int[:] i_serializing
    cdef public int[:] i_load_fence
    cdef public int[:] i_store_fence
    cdef public int[:] i_tp
    cdef public int[:] i_symbol_source
    cdef public int[:] i_pointer_load
    cdef public int[:] i_wait
    cdef public int[:] i_outputs_count
    cdef public int[:] i_merge_count
    cdef public int[:] i_fused_count
    cdef public int[:] i_operands_count
    cdef public int[:] i_results_count
    cdef public int[:] i_offset
    cdef public int[:] i_idq0
    cdef public int[:] i_uop0
    cdef public int[:] i_outputs0
    cdef public int[:] i_merge0
    cdef public int[:] i_tp_name
    cdef public int[:] i_value_kind
    cdef public int[:] i_value_base
    cdef public int[:] i_value_index
    cdef public int[:] i_value_scale
    cdef public long long[::1] i_symbol_delta
    cdef public long long[::1] i_value_delta
    cdef int _outputs_room
    cdef int[::1] _outputs_table
    cdef public int[:] output_key
    cdef int _merges_room
    cdef int[::1] _merges_table
    cdef public int[:] merge_key
    cdef int _idq_uops_room
    cdef int[::1] _idq_uops_table
    cdef public int[:] q_fused_count
    cdef public int[:] q_fused0
    cdef public int[:] q_instruction
    cdef public int[:] q_uop0
    cdef int _fused_uops_room
    cdef int[::1] _fused_uops_table
    cdef public int[:] f_uop_count
    cdef public int[:] f_uop0
    cdef int _uops_room
    cdef int[::1] _uops_table
    cdef public int[:] u_kind
    cdef public int[:] u_port_mask
    cdef public int[:] u_divider
    cdef public int[:] u_first
    cdef public int[:] u_last
    cdef public int[:] u_in_count
    cdef public int[:] u_out_count
    cdef public int[:] u_has_address
    cdef public int[:] u_base
    cdef public int[:] u_index
    cdef public int[:] u_scale
    cdef public int[:] u_displacement
    cdef public int[:] u_pointer_chasing
    cdef public int[:] u_wide
    cdef public int[:] u_bytes
    cdef public int[:] u_stack_offset
    cdef public int[:] u_in0
    cdef public int[:] u_out0
    cdef public int[:] u_instruction
    cdef int _operands_room
    cdef int[::1] _operands_table
    cdef public int[:] in_internal
    cdef public int[:] in_key
    cdef int _results_room
    cdef int[::1] _results_table
    cdef public int[:] out_internal
    cdef public int[:] out_key
    cdef public int[:] out_latency
    cdef i_row* i_rows
    cdef output_row* output_rows
    cdef merge_row* merge_rows
    cdef q_row* q_rows
    cdef f_row* f_rows
    cdef u_row* u_rows
    cdef in_row* in_rows
    cdef out_row* out_rows
    cdef inline void _point(self) noexcept:
        self.i_rows = <i_row*> &self._instructions_table[0]
        self.output_rows = <output_row*> &self._outputs_table[0]
        self.merge_rows = <merge_row*> &self._merges_table[0]
        self.q_rows = <q_row*> &self._idq_uops_table[0]
        self.f_rows = <f_row*> &self._fused_uops_table[0]
        self.u_rows = <u_row*> &self._uops_table[0]
        self.in_rows = <in_row*> &self._operands_table[0]
        self.out_rows = <out_row*> &self._results_table[0]
    cdef void _reserve_instructions(self, int count) except *
    cdef void _reserve_outputs(self, int count) except *
    cdef void _reserve_merges(self, int count) except *
    cdef void _reserve_idq_uops(self, int count) except *
    cdef void _reserve_fused_uops(self, int count) except *
    cdef void _reserve_uops(self, int count) except *
    cdef void _reserve_operands(self, int count) except *
    cdef void _reserve_results(self, int count) except *
