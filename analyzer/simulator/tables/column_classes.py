"""Made by dev/declarations.py from declared.py; do not edit."""

from __future__ import annotations

from cyclelens.analyzer.simulator.tables.arrays import grown, ints, longs, spaced
from cyclelens.analyzer.simulator.tables.constants import FOREVER, NO_SOURCE, NONE, UNKNOWN

INSTRUCTIONS = (
    "length",
    "opcode",
    "lcp",
    "branch",
    "jump",
    "second",
    "first",
    "fusible",
    "complex",
    "simple_decoders",
    "mite_uops",
    "ms_uops",
    "extra_slot",
    "jcc",
    "idq_count",
    "decoded_count",
    "uop_count",
    "rsp_change",
    "rsp_explicit",
    "rsp_written",
    "high8_written",
    "no_uops",
    "eliminable",
    "move_source",
    "move_target",
    "move_32",
    "adds",
    "added",
    "offset_key0",
    "offset_key1",
    "takes_over",
    "joins",
    "serializing",
    "load_fence",
    "store_fence",
    "tp",
    "symbol_source",
    "pointer_load",
    "wait",
    "outputs_count",
    "merge_count",
    "fused_count",
    "operands_count",
    "results_count",
)
UOPS = (
    "kind",
    "port_mask",
    "divider",
    "first",
    "last",
    "in_count",
    "out_count",
    "has_address",
    "base",
    "index",
    "scale",
    "displacement",
    "pointer_chasing",
    "wide",
    "bytes",
    "stack_offset",
)


class FlightColumns:
    """Columns that grow; their new rows are ready to use before they are needed."""

    def __init__(self) -> None:
        self._instances_ready = 0
        self.instance_uop0 = ints(0)
        self.place = ints(0)
        self.address = ints(0)
        self.predecoded = ints(0)
        self.removed = ints(0)
        self._uops_ready = 0
        self.instance = ints(0)
        self.position = ints(0)
        self.static = ints(0)
        self.source = ints(0)
        self.added = ints(0)
        self.issued = ints(0)
        self.ready = ints(0)
        self.dispatched = ints(0)
        self.executed = ints(0)
        self.retired = ints(0)
        self.port = ints(0)
        self.store = ints(0)
        self.latency_bonus = ints(0)
        self.first_input = ints(0)
        self.first_result = ints(0)
        self.pending = ints(0)
        self.latest = ints(0)
        self.next_uop = ints(0)
        self.blocked = ints(0)
        self.renamed = ints(0)
        self.collided = ints(0)
        self.words = ints(0)
        self.late_by = ints(0)
        self.held = ints(0)
        self.allowed = ints(0)
        self.last_input = ints(0)
        self.inputs_ready = ints(0)
        self.queued = ints(0)
        self.behind = ints(0)
        self._inputs_ready = 0
        self.input_value = ints(0)
        self.input_uop = ints(0)
        self.input_next = ints(0)
        self._values_ready = 0
        self.value_ready = ints(0)
        self.value_uop = ints(0)
        self.value_latency = ints(0)
        self.value_zero = ints(0)
        self.value_waiters = ints(0)
        self._stores_ready = 0
        self.store_address = ints(0)
        self.store_data = ints(0)
        self.store_waiters = ints(0)
        self.store_scale = ints(0)
        self.store_displacement = ints(0)
        self.store_bytes = ints(0)
        self.store_uop = ints(0)
        self.store_last = ints(0)
        self.store_left = ints(0)
        self.store_value = ints(0)
        self.store_late = ints(0)
        self.store_base = longs(0)
        self.store_index = longs(0)
        self._cycles_ready = 0
        self.refusal = ints(0)
        self.refused_by = ints(0)
        self.unfinished = ints(0)

    def _forget(self) -> None:
        """No row is ready."""
        self._instances_ready = 0
        self._uops_ready = 0
        self._inputs_ready = 0
        self._values_ready = 0
        self._stores_ready = 0
        self._cycles_ready = 0

    def _more_instances(self, end: int) -> None:
        """Get the rows up to ``end`` ready."""
        if end > len(self.instance_uop0):
            size = spaced(2 * end)
            self.instance_uop0 = grown(self.instance_uop0, size)
            self.place = grown(self.place, size)
            self.address = grown(self.address, size)
            self.predecoded = grown(self.predecoded, size)
            self.removed = grown(self.removed, size)
        self._fill_instances_0(self._instances_ready, end)
        self._instances_ready = end

    def _fill_instances_0(self, begin: int, end: int) -> None:
        first = UNKNOWN
        for row in range(begin, end):
            self.predecoded[row] = first
        first = UNKNOWN
        for row in range(begin, end):
            self.removed[row] = first

    def _more_uops(self, end: int) -> None:
        """Get the rows up to ``end`` ready."""
        if end > len(self.instance):
            size = spaced(2 * end)
            self.instance = grown(self.instance, size)
            self.position = grown(self.position, size)
            self.static = grown(self.static, size)
            self.source = grown(self.source, size)
            self.added = grown(self.added, size)
            self.issued = grown(self.issued, size)
            self.ready = grown(self.ready, size)
            self.dispatched = grown(self.dispatched, size)
            self.executed = grown(self.executed, size)
            self.retired = grown(self.retired, size)
            self.port = grown(self.port, size)
            self.store = grown(self.store, size)
            self.latency_bonus = grown(self.latency_bonus, size)
            self.first_input = grown(self.first_input, size)
            self.first_result = grown(self.first_result, size)
            self.pending = grown(self.pending, size)
            self.latest = grown(self.latest, size)
            self.next_uop = grown(self.next_uop, size)
            self.blocked = grown(self.blocked, size)
            self.renamed = grown(self.renamed, size)
            self.collided = grown(self.collided, size)
            self.words = grown(self.words, size)
            self.late_by = grown(self.late_by, size)
            self.held = grown(self.held, size)
            self.allowed = grown(self.allowed, size)
            self.last_input = grown(self.last_input, size)
            self.inputs_ready = grown(self.inputs_ready, size)
            self.queued = grown(self.queued, size)
            self.behind = grown(self.behind, size)
        self._fill_uops_0(self._uops_ready, end)
        self._fill_uops_1(self._uops_ready, end)
        self._fill_uops_2(self._uops_ready, end)
        self._uops_ready = end

    def _fill_uops_0(self, begin: int, end: int) -> None:
        first = NO_SOURCE
        for row in range(begin, end):
            self.source[row] = first
        first = UNKNOWN
        for row in range(begin, end):
            self.added[row] = first
        first = UNKNOWN
        for row in range(begin, end):
            self.issued[row] = first
        first = UNKNOWN
        for row in range(begin, end):
            self.ready[row] = first
        first = UNKNOWN
        for row in range(begin, end):
            self.dispatched[row] = first
        first = UNKNOWN
        for row in range(begin, end):
            self.executed[row] = first

    def _fill_uops_1(self, begin: int, end: int) -> None:
        first = UNKNOWN
        for row in range(begin, end):
            self.retired[row] = first
        first = NONE
        for row in range(begin, end):
            self.port[row] = first
        first = NONE
        for row in range(begin, end):
            self.store[row] = first
        first = 0
        for row in range(begin, end):
            self.latency_bonus[row] = first
        first = 0
        for row in range(begin, end):
            self.blocked[row] = first
        first = 0
        for row in range(begin, end):
            self.held[row] = first

    def _fill_uops_2(self, begin: int, end: int) -> None:
        first = 0
        for row in range(begin, end):
            self.queued[row] = first

    def _more_inputs(self, end: int) -> None:
        """Get the rows up to ``end`` ready."""
        if end > len(self.input_value):
            size = spaced(2 * end)
            self.input_value = grown(self.input_value, size)
            self.input_uop = grown(self.input_uop, size)
            self.input_next = grown(self.input_next, size)
        self._inputs_ready = end

    def _more_values(self, end: int) -> None:
        """Get the rows up to ``end`` ready."""
        if end > len(self.value_ready):
            size = spaced(2 * end)
            self.value_ready = grown(self.value_ready, size)
            self.value_uop = grown(self.value_uop, size)
            self.value_latency = grown(self.value_latency, size)
            self.value_zero = grown(self.value_zero, size)
            self.value_waiters = grown(self.value_waiters, size)
        self._fill_values_0(self._values_ready, end)
        self._values_ready = end

    def _fill_values_0(self, begin: int, end: int) -> None:
        first = FOREVER
        for row in range(begin, end):
            self.value_ready[row] = first
        first = NONE
        for row in range(begin, end):
            self.value_uop[row] = first
        first = 0
        for row in range(begin, end):
            self.value_latency[row] = first
        first = 0
        for row in range(begin, end):
            self.value_zero[row] = first
        first = NONE
        for row in range(begin, end):
            self.value_waiters[row] = first

    def _more_stores(self, end: int) -> None:
        """Get the rows up to ``end`` ready."""
        if end > len(self.store_address):
            size = spaced(2 * end)
            self.store_address = grown(self.store_address, size)
            self.store_data = grown(self.store_data, size)
            self.store_waiters = grown(self.store_waiters, size)
            self.store_scale = grown(self.store_scale, size)
            self.store_displacement = grown(self.store_displacement, size)
            self.store_bytes = grown(self.store_bytes, size)
            self.store_uop = grown(self.store_uop, size)
            self.store_last = grown(self.store_last, size)
            self.store_left = grown(self.store_left, size)
            self.store_value = grown(self.store_value, size)
            self.store_late = grown(self.store_late, size)
            self.store_base = grown(self.store_base, size)
            self.store_index = grown(self.store_index, size)
        self._fill_stores_0(self._stores_ready, end)
        self._fill_stores_1(self._stores_ready, end)
        self._stores_ready = end

    def _fill_stores_0(self, begin: int, end: int) -> None:
        first = UNKNOWN
        for row in range(begin, end):
            self.store_address[row] = first
        first = UNKNOWN
        for row in range(begin, end):
            self.store_data[row] = first
        first = NONE
        for row in range(begin, end):
            self.store_waiters[row] = first
        first = NONE
        for row in range(begin, end):
            self.store_uop[row] = first
        first = NONE
        for row in range(begin, end):
            self.store_last[row] = first
        first = UNKNOWN
        for row in range(begin, end):
            self.store_left[row] = first

    def _fill_stores_1(self, begin: int, end: int) -> None:
        first = NONE
        for row in range(begin, end):
            self.store_value[row] = first
        first = 0
        for row in range(begin, end):
            self.store_late[row] = first

    def _more_cycles(self, end: int) -> None:
        """Get the rows up to ``end`` ready."""
        if end > len(self.refusal):
            size = spaced(2 * end)
            self.refusal = grown(self.refusal, size)
            self.refused_by = grown(self.refused_by, size)
            self.unfinished = grown(self.unfinished, size)
        self._cycles_ready = end


class BlockColumns:
    """Columns as long as the longest block so far needed them. A table holds them one behind the
    other, each as long as its room."""

    def __init__(self) -> None:
        self._instructions_room = 0
        self._instructions_table = ints(0)
        self.i_length = ints(0)
        self.i_opcode = ints(0)
        self.i_lcp = ints(0)
        self.i_branch = ints(0)
        self.i_jump = ints(0)
        self.i_second = ints(0)
        self.i_first = ints(0)
        self.i_fusible = ints(0)
        self.i_complex = ints(0)
        self.i_simple_decoders = ints(0)
        self.i_mite_uops = ints(0)
        self.i_ms_uops = ints(0)
        self.i_extra_slot = ints(0)
        self.i_jcc = ints(0)
        self.i_idq_count = ints(0)
        self.i_decoded_count = ints(0)
        self.i_uop_count = ints(0)
        self.i_rsp_change = ints(0)
        self.i_rsp_explicit = ints(0)
        self.i_rsp_written = ints(0)
        self.i_high8_written = ints(0)
        self.i_no_uops = ints(0)
        self.i_eliminable = ints(0)
        self.i_move_source = ints(0)
        self.i_move_target = ints(0)
        self.i_move_32 = ints(0)
        self.i_adds = ints(0)
        self.i_added = ints(0)
        self.i_offset_key0 = ints(0)
        self.i_offset_key1 = ints(0)
        self.i_takes_over = ints(0)
        self.i_joins = ints(0)
        self.i_serializing = ints(0)
        self.i_load_fence = ints(0)
        self.i_store_fence = ints(0)
        self.i_tp = ints(0)
        self.i_symbol_source = ints(0)
        self.i_pointer_load = ints(0)
        self.i_wait = ints(0)
        self.i_outputs_count = ints(0)
        self.i_merge_count = ints(0)
        self.i_fused_count = ints(0)
        self.i_operands_count = ints(0)
        self.i_results_count = ints(0)
        self.i_offset = ints(0)
        self.i_idq0 = ints(0)
        self.i_uop0 = ints(0)
        self.i_outputs0 = ints(0)
        self.i_merge0 = ints(0)
        self.i_tp_name = ints(0)
        self.i_symbol_delta = longs(0)
        self.i_value_kind = ints(0)
        self.i_value_base = ints(0)
        self.i_value_index = ints(0)
        self.i_value_scale = ints(0)
        self.i_value_delta = longs(0)
        self._outputs_room = 0
        self._outputs_table = ints(0)
        self.output_key = ints(0)
        self._merges_room = 0
        self._merges_table = ints(0)
        self.merge_key = ints(0)
        self._idq_uops_room = 0
        self._idq_uops_table = ints(0)
        self.q_fused_count = ints(0)
        self.q_fused0 = ints(0)
        self.q_instruction = ints(0)
        self.q_uop0 = ints(0)
        self._fused_uops_room = 0
        self._fused_uops_table = ints(0)
        self.f_uop_count = ints(0)
        self.f_uop0 = ints(0)
        self._uops_room = 0
        self._uops_table = ints(0)
        self.u_kind = ints(0)
        self.u_port_mask = ints(0)
        self.u_divider = ints(0)
        self.u_first = ints(0)
        self.u_last = ints(0)
        self.u_in_count = ints(0)
        self.u_out_count = ints(0)
        self.u_has_address = ints(0)
        self.u_base = ints(0)
        self.u_index = ints(0)
        self.u_scale = ints(0)
        self.u_displacement = ints(0)
        self.u_pointer_chasing = ints(0)
        self.u_wide = ints(0)
        self.u_bytes = ints(0)
        self.u_stack_offset = ints(0)
        self.u_in0 = ints(0)
        self.u_out0 = ints(0)
        self.u_instruction = ints(0)
        self._operands_room = 0
        self._operands_table = ints(0)
        self.in_internal = ints(0)
        self.in_key = ints(0)
        self._results_room = 0
        self._results_table = ints(0)
        self.out_internal = ints(0)
        self.out_key = ints(0)
        self.out_latency = ints(0)

    def _reserve_instructions(self, count: int) -> None:
        """Make room for so many rows, and some more so that few blocks need new columns."""
        if count <= self._instructions_room:
            return
        room = self._instructions_room = 64 + 2 * count
        table = self._instructions_table = memoryview(ints(44 * room))
        self.i_length = table[0 * room : 1 * room]
        self.i_opcode = table[1 * room : 2 * room]
        self.i_lcp = table[2 * room : 3 * room]
        self.i_branch = table[3 * room : 4 * room]
        self.i_jump = table[4 * room : 5 * room]
        self.i_second = table[5 * room : 6 * room]
        self.i_first = table[6 * room : 7 * room]
        self.i_fusible = table[7 * room : 8 * room]
        self.i_complex = table[8 * room : 9 * room]
        self.i_simple_decoders = table[9 * room : 10 * room]
        self.i_mite_uops = table[10 * room : 11 * room]
        self.i_ms_uops = table[11 * room : 12 * room]
        self.i_extra_slot = table[12 * room : 13 * room]
        self.i_jcc = table[13 * room : 14 * room]
        self.i_idq_count = table[14 * room : 15 * room]
        self.i_decoded_count = table[15 * room : 16 * room]
        self.i_uop_count = table[16 * room : 17 * room]
        self.i_rsp_change = table[17 * room : 18 * room]
        self.i_rsp_explicit = table[18 * room : 19 * room]
        self.i_rsp_written = table[19 * room : 20 * room]
        self.i_high8_written = table[20 * room : 21 * room]
        self.i_no_uops = table[21 * room : 22 * room]
        self.i_eliminable = table[22 * room : 23 * room]
        self.i_move_source = table[23 * room : 24 * room]
        self.i_move_target = table[24 * room : 25 * room]
        self.i_move_32 = table[25 * room : 26 * room]
        self.i_adds = table[26 * room : 27 * room]
        self.i_added = table[27 * room : 28 * room]
        self.i_offset_key0 = table[28 * room : 29 * room]
        self.i_offset_key1 = table[29 * room : 30 * room]
        self.i_takes_over = table[30 * room : 31 * room]
        self.i_joins = table[31 * room : 32 * room]
        self.i_serializing = table[32 * room : 33 * room]
        self.i_load_fence = table[33 * room : 34 * room]
        self.i_store_fence = table[34 * room : 35 * room]
        self.i_tp = table[35 * room : 36 * room]
        self.i_symbol_source = table[36 * room : 37 * room]
        self.i_pointer_load = table[37 * room : 38 * room]
        self.i_wait = table[38 * room : 39 * room]
        self.i_outputs_count = table[39 * room : 40 * room]
        self.i_merge_count = table[40 * room : 41 * room]
        self.i_fused_count = table[41 * room : 42 * room]
        self.i_operands_count = table[42 * room : 43 * room]
        self.i_results_count = table[43 * room : 44 * room]
        self.i_offset = ints(room)
        self.i_idq0 = ints(room)
        self.i_uop0 = ints(room)
        self.i_outputs0 = ints(room)
        self.i_merge0 = ints(room)
        self.i_tp_name = ints(room)
        self.i_symbol_delta = longs(room)
        self.i_value_kind = ints(room)
        self.i_value_base = ints(room)
        self.i_value_index = ints(room)
        self.i_value_scale = ints(room)
        self.i_value_delta = longs(room)

    def _reserve_outputs(self, count: int) -> None:
        """Make room for so many rows, and some more so that few blocks need new columns."""
        if count <= self._outputs_room:
            return
        room = self._outputs_room = 64 + 2 * count
        table = self._outputs_table = memoryview(ints(1 * room))
        self.output_key = table[0 * room : 1 * room]

    def _reserve_merges(self, count: int) -> None:
        """Make room for so many rows, and some more so that few blocks need new columns."""
        if count <= self._merges_room:
            return
        room = self._merges_room = 64 + 2 * count
        table = self._merges_table = memoryview(ints(1 * room))
        self.merge_key = table[0 * room : 1 * room]

    def _reserve_idq_uops(self, count: int) -> None:
        """Make room for so many rows, and some more so that few blocks need new columns."""
        if count <= self._idq_uops_room:
            return
        room = self._idq_uops_room = 64 + 2 * count
        table = self._idq_uops_table = memoryview(ints(1 * room))
        self.q_fused_count = table[0 * room : 1 * room]
        self.q_fused0 = ints(room)
        self.q_instruction = ints(room)
        self.q_uop0 = ints(room)

    def _reserve_fused_uops(self, count: int) -> None:
        """Make room for so many rows, and some more so that few blocks need new columns."""
        if count <= self._fused_uops_room:
            return
        room = self._fused_uops_room = 64 + 2 * count
        table = self._fused_uops_table = memoryview(ints(1 * room))
        self.f_uop_count = table[0 * room : 1 * room]
        self.f_uop0 = ints(room)

    def _reserve_uops(self, count: int) -> None:
        """Make room for so many rows, and some more so that few blocks need new columns."""
        if count <= self._uops_room:
            return
        room = self._uops_room = 64 + 2 * count
        table = self._uops_table = memoryview(ints(16 * room))
        self.u_kind = table[0 * room : 1 * room]
        self.u_port_mask = table[1 * room : 2 * room]
        self.u_divider = table[2 * room : 3 * room]
        self.u_first = table[3 * room : 4 * room]
        self.u_last = table[4 * room : 5 * room]
        self.u_in_count = table[5 * room : 6 * room]
        self.u_out_count = table[6 * room : 7 * room]
        self.u_has_address = table[7 * room : 8 * room]
        self.u_base = table[8 * room : 9 * room]
        self.u_index = table[9 * room : 10 * room]
        self.u_scale = table[10 * room : 11 * room]
        self.u_displacement = table[11 * room : 12 * room]
        self.u_pointer_chasing = table[12 * room : 13 * room]
        self.u_wide = table[13 * room : 14 * room]
        self.u_bytes = table[14 * room : 15 * room]
        self.u_stack_offset = table[15 * room : 16 * room]
        self.u_in0 = ints(room)
        self.u_out0 = ints(room)
        self.u_instruction = ints(room)

    def _reserve_operands(self, count: int) -> None:
        """Make room for so many rows, and some more so that few blocks need new columns."""
        if count <= self._operands_room:
            return
        room = self._operands_room = 64 + 2 * count
        table = self._operands_table = memoryview(ints(2 * room))
        self.in_internal = table[0 * room : 1 * room]
        self.in_key = table[1 * room : 2 * room]

    def _reserve_results(self, count: int) -> None:
        """Make room for so many rows, and some more so that few blocks need new columns."""
        if count <= self._results_room:
            return
        room = self._results_room = 64 + 2 * count
        table = self._results_table = memoryview(ints(3 * room))
        self.out_internal = table[0 * room : 1 * room]
        self.out_key = table[1 * room : 2 * room]
        self.out_latency = table[2 * room : 3 * room]
