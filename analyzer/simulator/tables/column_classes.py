"""Made by dev/declarations.py from declared.py; do not edit."""

from __future__ import annotations

from cyclelens.analyzer.simulator.tables.arrays import Strided, grown, ints, longs

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
    "rsp_step",
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
INSTRUCTIONS_ROW = 64
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
UOPS_ROW = 32


class FlightColumns:
    """Columns that grow; their new rows are ready to use before they are needed."""

    def __init__(self) -> None:
        self._instances_room = 0
        self._instances_table = ints(0)
        self.instance_uop0: Strided = ints(0)
        self.place: Strided = ints(0)
        self.address: Strided = ints(0)
        self.predecoded: Strided = ints(0)
        self.removed: Strided = ints(0)
        self._uops_room = 0
        self._uops_table = ints(0)
        self.instance: Strided = ints(0)
        self.position: Strided = ints(0)
        self.static: Strided = ints(0)
        self.next_uop: Strided = ints(0)
        self.issued: Strided = ints(0)
        self.ready: Strided = ints(0)
        self.dispatched: Strided = ints(0)
        self.executed: Strided = ints(0)
        self.port: Strided = ints(0)
        self.store: Strided = ints(0)
        self.latency_bonus: Strided = ints(0)
        self.blocked: Strided = ints(0)
        self.first_input: Strided = ints(0)
        self.first_result: Strided = ints(0)
        self.pending: Strided = ints(0)
        self.latest: Strided = ints(0)
        self.added: Strided = ints(0)
        self.retired: Strided = ints(0)
        self.source: Strided = ints(0)
        self.held: Strided = ints(0)
        self.renamed: Strided = ints(0)
        self.collided: Strided = ints(0)
        self.words: Strided = ints(0)
        self.late_by: Strided = ints(0)
        self.queued: Strided = ints(0)
        self.behind: Strided = ints(0)
        self.allowed: Strided = ints(0)
        self.last_input: Strided = ints(0)
        self.inputs_ready: Strided = ints(0)
        self._inputs_room = 0
        self._inputs_table = ints(0)
        self.input_value: Strided = ints(0)
        self.input_uop: Strided = ints(0)
        self.input_next: Strided = ints(0)
        self._values_room = 0
        self._values_table = ints(0)
        self.value_ready: Strided = ints(0)
        self.value_uop: Strided = ints(0)
        self.value_latency: Strided = ints(0)
        self.value_zero: Strided = ints(0)
        self.value_waiters: Strided = ints(0)
        self._stores_room = 0
        self._stores_table = ints(0)
        self.store_address: Strided = ints(0)
        self.store_data: Strided = ints(0)
        self.store_waiters: Strided = ints(0)
        self.store_scale: Strided = ints(0)
        self.store_displacement: Strided = ints(0)
        self.store_bytes: Strided = ints(0)
        self.store_uop: Strided = ints(0)
        self.store_last: Strided = ints(0)
        self.store_left: Strided = ints(0)
        self.store_value: Strided = ints(0)
        self.store_late: Strided = ints(0)
        self.store_base = longs(0)
        self.store_index = longs(0)
        self._cycles_room = 0
        self._cycles_table = ints(0)
        self.refusal: Strided = ints(0)
        self.refused_by: Strided = ints(0)
        self.unfinished: Strided = ints(0)

    def _point(self) -> None:
        """Compiled code reads rows where they lie now."""

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
        if end > self._instances_room:
            room = self._instances_room = 2 * end
            size = 8 * room
            self._instances_table = memoryview(grown(self._instances_table, size))
            self.instance_uop0 = self._instances_table[0::8]
            self.place = self._instances_table[1::8]
            self.address = self._instances_table[2::8]
            self.predecoded = self._instances_table[3::8]
            self.removed = self._instances_table[4::8]
            self._point()
        self._fill_instances(self._instances_ready, end)
        self._instances_ready = end

    def _fill_instances(self, begin: int, end: int) -> None:
        for row in range(begin, end):
            self.predecoded[row] = -2
            self.removed[row] = -2

    def _more_uops(self, end: int) -> None:
        """Get the rows up to ``end`` ready."""
        if end > self._uops_room:
            room = self._uops_room = 2 * end
            size = 32 * room
            self._uops_table = memoryview(grown(self._uops_table, size))
            self.instance = self._uops_table[0::32]
            self.position = self._uops_table[1::32]
            self.static = self._uops_table[2::32]
            self.next_uop = self._uops_table[3::32]
            self.issued = self._uops_table[4::32]
            self.ready = self._uops_table[5::32]
            self.dispatched = self._uops_table[6::32]
            self.executed = self._uops_table[7::32]
            self.port = self._uops_table[8::32]
            self.store = self._uops_table[9::32]
            self.latency_bonus = self._uops_table[10::32]
            self.blocked = self._uops_table[11::32]
            self.first_input = self._uops_table[12::32]
            self.first_result = self._uops_table[13::32]
            self.pending = self._uops_table[14::32]
            self.latest = self._uops_table[15::32]
            self.added = self._uops_table[16::32]
            self.retired = self._uops_table[17::32]
            self.source = self._uops_table[18::32]
            self.held = self._uops_table[19::32]
            self.renamed = self._uops_table[20::32]
            self.collided = self._uops_table[21::32]
            self.words = self._uops_table[22::32]
            self.late_by = self._uops_table[23::32]
            self.queued = self._uops_table[24::32]
            self.behind = self._uops_table[25::32]
            self.allowed = self._uops_table[26::32]
            self.last_input = self._uops_table[27::32]
            self.inputs_ready = self._uops_table[28::32]
            self._point()
        self._fill_uops(self._uops_ready, end)
        self._uops_ready = end

    def _fill_uops(self, begin: int, end: int) -> None:
        for row in range(begin, end):
            self.issued[row] = -2
            self.ready[row] = -2
            self.dispatched[row] = -2
            self.executed[row] = -2
            self.port[row] = -1
            self.store[row] = -1
            self.latency_bonus[row] = 0
            self.blocked[row] = 0
            self.added[row] = -2
            self.retired[row] = -2
            self.source[row] = 0
            self.held[row] = 0
            self.queued[row] = 0

    def _more_inputs(self, end: int) -> None:
        """Get the rows up to ``end`` ready."""
        if end > self._inputs_room:
            room = self._inputs_room = 2 * end
            size = 4 * room
            self._inputs_table = memoryview(grown(self._inputs_table, size))
            self.input_value = self._inputs_table[0::4]
            self.input_uop = self._inputs_table[1::4]
            self.input_next = self._inputs_table[2::4]
            self._point()
        self._inputs_ready = end

    def _more_values(self, end: int) -> None:
        """Get the rows up to ``end`` ready."""
        if end > self._values_room:
            room = self._values_room = 2 * end
            size = 8 * room
            self._values_table = memoryview(grown(self._values_table, size))
            self.value_ready = self._values_table[0::8]
            self.value_uop = self._values_table[1::8]
            self.value_latency = self._values_table[2::8]
            self.value_zero = self._values_table[3::8]
            self.value_waiters = self._values_table[4::8]
            self._point()
        self._fill_values(self._values_ready, end)
        self._values_ready = end

    def _fill_values(self, begin: int, end: int) -> None:
        for row in range(begin, end):
            self.value_ready[row] = -1
            self.value_uop[row] = -1
            self.value_latency[row] = 0
            self.value_zero[row] = 0
            self.value_waiters[row] = -1

    def _more_stores(self, end: int) -> None:
        """Get the rows up to ``end`` ready."""
        if end > self._stores_room:
            room = self._stores_room = 2 * end
            size = 16 * room
            self._stores_table = memoryview(grown(self._stores_table, size))
            self.store_address = self._stores_table[0::16]
            self.store_data = self._stores_table[1::16]
            self.store_waiters = self._stores_table[2::16]
            self.store_scale = self._stores_table[3::16]
            self.store_displacement = self._stores_table[4::16]
            self.store_bytes = self._stores_table[5::16]
            self.store_uop = self._stores_table[6::16]
            self.store_last = self._stores_table[7::16]
            self.store_left = self._stores_table[8::16]
            self.store_value = self._stores_table[9::16]
            self.store_late = self._stores_table[10::16]
            self._point()
            self.store_base = grown(self.store_base, room)
            self.store_index = grown(self.store_index, room)
        self._fill_stores(self._stores_ready, end)
        self._stores_ready = end

    def _fill_stores(self, begin: int, end: int) -> None:
        for row in range(begin, end):
            self.store_address[row] = -2
            self.store_data[row] = -2
            self.store_waiters[row] = -1
            self.store_uop[row] = -1
            self.store_last[row] = -1
            self.store_left[row] = -2
            self.store_value[row] = -1
            self.store_late[row] = 0

    def _more_cycles(self, end: int) -> None:
        """Get the rows up to ``end`` ready."""
        if end > self._cycles_room:
            room = self._cycles_room = 2 * end
            size = 4 * room
            self._cycles_table = memoryview(grown(self._cycles_table, size))
            self.refusal = self._cycles_table[0::4]
            self.refused_by = self._cycles_table[1::4]
            self.unfinished = self._cycles_table[2::4]
            self._point()
        self._cycles_ready = end


class BlockColumns:
    """Columns as long as the longest block so far needed them."""

    def __init__(self) -> None:
        self._instructions_room = 0
        self._instructions_table = ints(0)
        self.i_length: Strided = ints(0)
        self.i_opcode: Strided = ints(0)
        self.i_lcp: Strided = ints(0)
        self.i_branch: Strided = ints(0)
        self.i_jump: Strided = ints(0)
        self.i_second: Strided = ints(0)
        self.i_first: Strided = ints(0)
        self.i_fusible: Strided = ints(0)
        self.i_complex: Strided = ints(0)
        self.i_simple_decoders: Strided = ints(0)
        self.i_mite_uops: Strided = ints(0)
        self.i_ms_uops: Strided = ints(0)
        self.i_extra_slot: Strided = ints(0)
        self.i_jcc: Strided = ints(0)
        self.i_idq_count: Strided = ints(0)
        self.i_decoded_count: Strided = ints(0)
        self.i_uop_count: Strided = ints(0)
        self.i_rsp_change: Strided = ints(0)
        self.i_rsp_step: Strided = ints(0)
        self.i_rsp_explicit: Strided = ints(0)
        self.i_rsp_written: Strided = ints(0)
        self.i_high8_written: Strided = ints(0)
        self.i_no_uops: Strided = ints(0)
        self.i_eliminable: Strided = ints(0)
        self.i_move_source: Strided = ints(0)
        self.i_move_target: Strided = ints(0)
        self.i_move_32: Strided = ints(0)
        self.i_adds: Strided = ints(0)
        self.i_added: Strided = ints(0)
        self.i_offset_key0: Strided = ints(0)
        self.i_offset_key1: Strided = ints(0)
        self.i_takes_over: Strided = ints(0)
        self.i_joins: Strided = ints(0)
        self.i_serializing: Strided = ints(0)
        self.i_load_fence: Strided = ints(0)
        self.i_store_fence: Strided = ints(0)
        self.i_tp: Strided = ints(0)
        self.i_symbol_source: Strided = ints(0)
        self.i_pointer_load: Strided = ints(0)
        self.i_wait: Strided = ints(0)
        self.i_outputs_count: Strided = ints(0)
        self.i_merge_count: Strided = ints(0)
        self.i_fused_count: Strided = ints(0)
        self.i_operands_count: Strided = ints(0)
        self.i_results_count: Strided = ints(0)
        self.i_offset: Strided = ints(0)
        self.i_idq0: Strided = ints(0)
        self.i_uop0: Strided = ints(0)
        self.i_outputs0: Strided = ints(0)
        self.i_merge0: Strided = ints(0)
        self.i_tp_name: Strided = ints(0)
        self.i_value_kind: Strided = ints(0)
        self.i_value_base: Strided = ints(0)
        self.i_value_index: Strided = ints(0)
        self.i_value_scale: Strided = ints(0)
        self.i_symbol_delta = longs(0)
        self.i_value_delta = longs(0)
        self._outputs_room = 0
        self._outputs_table = ints(0)
        self.output_key: Strided = ints(0)
        self._merges_room = 0
        self._merges_table = ints(0)
        self.merge_key: Strided = ints(0)
        self._idq_uops_room = 0
        self._idq_uops_table = ints(0)
        self.q_fused_count: Strided = ints(0)
        self.q_fused0: Strided = ints(0)
        self.q_instruction: Strided = ints(0)
        self.q_uop0: Strided = ints(0)
        self._fused_uops_room = 0
        self._fused_uops_table = ints(0)
        self.f_uop_count: Strided = ints(0)
        self.f_uop0: Strided = ints(0)
        self._uops_room = 0
        self._uops_table = ints(0)
        self.u_kind: Strided = ints(0)
        self.u_port_mask: Strided = ints(0)
        self.u_divider: Strided = ints(0)
        self.u_first: Strided = ints(0)
        self.u_last: Strided = ints(0)
        self.u_in_count: Strided = ints(0)
        self.u_out_count: Strided = ints(0)
        self.u_has_address: Strided = ints(0)
        self.u_base: Strided = ints(0)
        self.u_index: Strided = ints(0)
        self.u_scale: Strided = ints(0)
        self.u_displacement: Strided = ints(0)
        self.u_pointer_chasing: Strided = ints(0)
        self.u_wide: Strided = ints(0)
        self.u_bytes: Strided = ints(0)
        self.u_stack_offset: Strided = ints(0)
        self.u_in0: Strided = ints(0)
        self.u_out0: Strided = ints(0)
        self.u_instruction: Strided = ints(0)
        self._operands_room = 0
        self._operands_table = ints(0)
        self.in_internal: Strided = ints(0)
        self.in_key: Strided = ints(0)
        self._results_room = 0
        self._results_table = ints(0)
        self.out_internal: Strided = ints(0)
        self.out_key: Strided = ints(0)
        self.out_latency: Strided = ints(0)

    def _point(self) -> None:
        """Compiled code reads rows where they lie now."""

    def _reserve_instructions(self, count: int) -> None:
        """Make room for so many rows, and some more so that few blocks need new columns."""
        if count <= self._instructions_room:
            return
        room = self._instructions_room = 64 + 2 * count
        self._instructions_table = memoryview(ints(64 * room))
        self.i_length = self._instructions_table[0::64]
        self.i_opcode = self._instructions_table[1::64]
        self.i_lcp = self._instructions_table[2::64]
        self.i_branch = self._instructions_table[3::64]
        self.i_jump = self._instructions_table[4::64]
        self.i_second = self._instructions_table[5::64]
        self.i_first = self._instructions_table[6::64]
        self.i_fusible = self._instructions_table[7::64]
        self.i_complex = self._instructions_table[8::64]
        self.i_simple_decoders = self._instructions_table[9::64]
        self.i_mite_uops = self._instructions_table[10::64]
        self.i_ms_uops = self._instructions_table[11::64]
        self.i_extra_slot = self._instructions_table[12::64]
        self.i_jcc = self._instructions_table[13::64]
        self.i_idq_count = self._instructions_table[14::64]
        self.i_decoded_count = self._instructions_table[15::64]
        self.i_uop_count = self._instructions_table[16::64]
        self.i_rsp_change = self._instructions_table[17::64]
        self.i_rsp_step = self._instructions_table[18::64]
        self.i_rsp_explicit = self._instructions_table[19::64]
        self.i_rsp_written = self._instructions_table[20::64]
        self.i_high8_written = self._instructions_table[21::64]
        self.i_no_uops = self._instructions_table[22::64]
        self.i_eliminable = self._instructions_table[23::64]
        self.i_move_source = self._instructions_table[24::64]
        self.i_move_target = self._instructions_table[25::64]
        self.i_move_32 = self._instructions_table[26::64]
        self.i_adds = self._instructions_table[27::64]
        self.i_added = self._instructions_table[28::64]
        self.i_offset_key0 = self._instructions_table[29::64]
        self.i_offset_key1 = self._instructions_table[30::64]
        self.i_takes_over = self._instructions_table[31::64]
        self.i_joins = self._instructions_table[32::64]
        self.i_serializing = self._instructions_table[33::64]
        self.i_load_fence = self._instructions_table[34::64]
        self.i_store_fence = self._instructions_table[35::64]
        self.i_tp = self._instructions_table[36::64]
        self.i_symbol_source = self._instructions_table[37::64]
        self.i_pointer_load = self._instructions_table[38::64]
        self.i_wait = self._instructions_table[39::64]
        self.i_outputs_count = self._instructions_table[40::64]
        self.i_merge_count = self._instructions_table[41::64]
        self.i_fused_count = self._instructions_table[42::64]
        self.i_operands_count = self._instructions_table[43::64]
        self.i_results_count = self._instructions_table[44::64]
        self.i_offset = self._instructions_table[45::64]
        self.i_idq0 = self._instructions_table[46::64]
        self.i_uop0 = self._instructions_table[47::64]
        self.i_outputs0 = self._instructions_table[48::64]
        self.i_merge0 = self._instructions_table[49::64]
        self.i_tp_name = self._instructions_table[50::64]
        self.i_value_kind = self._instructions_table[51::64]
        self.i_value_base = self._instructions_table[52::64]
        self.i_value_index = self._instructions_table[53::64]
        self.i_value_scale = self._instructions_table[54::64]
        self._point()
        self.i_symbol_delta = longs(room)
        self.i_value_delta = longs(room)

    def _reserve_outputs(self, count: int) -> None:
        """Make room for so many rows, and some more so that few blocks need new columns."""
        if count <= self._outputs_room:
            return
        room = self._outputs_room = 64 + 2 * count
        self._outputs_table = memoryview(ints(1 * room))
        self.output_key = self._outputs_table[0::1]
        self._point()

    def _reserve_merges(self, count: int) -> None:
        """Make room for so many rows, and some more so that few blocks need new columns."""
        if count <= self._merges_room:
            return
        room = self._merges_room = 64 + 2 * count
        self._merges_table = memoryview(ints(1 * room))
        self.merge_key = self._merges_table[0::1]
        self._point()

    def _reserve_idq_uops(self, count: int) -> None:
        """Make room for so many rows, and some more so that few blocks need new columns."""
        if count <= self._idq_uops_room:
            return
        room = self._idq_uops_room = 64 + 2 * count
        self._idq_uops_table = memoryview(ints(4 * room))
        self.q_fused_count = self._idq_uops_table[0::4]
        self.q_fused0 = self._idq_uops_table[1::4]
        self.q_instruction = self._idq_uops_table[2::4]
        self.q_uop0 = self._idq_uops_table[3::4]
        self._point()

    def _reserve_fused_uops(self, count: int) -> None:
        """Make room for so many rows, and some more so that few blocks need new columns."""
        if count <= self._fused_uops_room:
            return
        room = self._fused_uops_room = 64 + 2 * count
        self._fused_uops_table = memoryview(ints(2 * room))
        self.f_uop_count = self._fused_uops_table[0::2]
        self.f_uop0 = self._fused_uops_table[1::2]
        self._point()

    def _reserve_uops(self, count: int) -> None:
        """Make room for so many rows, and some more so that few blocks need new columns."""
        if count <= self._uops_room:
            return
        room = self._uops_room = 64 + 2 * count
        self._uops_table = memoryview(ints(32 * room))
        self.u_kind = self._uops_table[0::32]
        self.u_port_mask = self._uops_table[1::32]
        self.u_divider = self._uops_table[2::32]
        self.u_first = self._uops_table[3::32]
        self.u_last = self._uops_table[4::32]
        self.u_in_count = self._uops_table[5::32]
        self.u_out_count = self._uops_table[6::32]
        self.u_has_address = self._uops_table[7::32]
        self.u_base = self._uops_table[8::32]
        self.u_index = self._uops_table[9::32]
        self.u_scale = self._uops_table[10::32]
        self.u_displacement = self._uops_table[11::32]
        self.u_pointer_chasing = self._uops_table[12::32]
        self.u_wide = self._uops_table[13::32]
        self.u_bytes = self._uops_table[14::32]
        self.u_stack_offset = self._uops_table[15::32]
        self.u_in0 = self._uops_table[16::32]
        self.u_out0 = self._uops_table[17::32]
        self.u_instruction = self._uops_table[18::32]
        self._point()

    def _reserve_operands(self, count: int) -> None:
        """Make room for so many rows, and some more so that few blocks need new columns."""
        if count <= self._operands_room:
            return
        room = self._operands_room = 64 + 2 * count
        self._operands_table = memoryview(ints(2 * room))
        self.in_internal = self._operands_table[0::2]
        self.in_key = self._operands_table[1::2]
        self._point()

    def _reserve_results(self, count: int) -> None:
        """Make room for so many rows, and some more so that few blocks need new columns."""
        if count <= self._results_room:
            return
        room = self._results_room = 64 + 2 * count
        self._results_table = memoryview(ints(4 * room))
        self.out_internal = self._results_table[0::4]
        self.out_key = self._results_table[1::4]
        self.out_latency = self._results_table[2::4]
        self._point()
