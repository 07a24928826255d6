"""A block flattened into integer columns: all that the stages need and that never changes in a run."""

from __future__ import annotations

from array import array

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.options import PUBLISHED, ModelOptions
from cyclelens.analyzer.model.uops import Block
from cyclelens.analyzer.simulator.arrays import Column, ints, longs
from cyclelens.analyzer.simulator.flat import (
    INSTRUCTION_FIELDS,
    KEYS,
    UOP_FIELDS,
    FlatInstruction,
    FlatUop,
    flatten,
)
from cyclelens.analyzer.uops.block import merge_uop, sync_uop

_MERGED = ("RAX", "RBX", "RCX", "RDX")
_EXTRA_UOPS = 1 + len(_MERGED)
_MERGE_UOPS = {KEYS.register(name): FlatUop(merge_uop(name)) for name in _MERGED}
_SYNC_UOPS: dict[str, FlatUop] = {}


class Program:
    """Columns over instructions (``i_``), IDQ uops (``q_``), fused uops (``f_``), uops (``u_``), uop
    operands (``in_``, ``out_``) and rename keys (``key_``); all flags are 0 or 1."""

    def __init__(
        self, block: Block, microarchitecture: Microarchitecture, options: ModelOptions = PUBLISHED
    ) -> None:
        flats = [flatten(entry) for entry in block.entries]
        self.exact_memory = options.hardware
        """Accesses are compared by the bytes they touch (``memory``)."""
        self.simple_front_end = options.simple_front_end
        # That one knows no code layout: it delivers unrolled code, whatever the mode.
        self.loop = block.loop and not options.simple_front_end
        self.alignment = block.alignment
        self.instructions = len(flats)
        self.keys = len(KEYS.classes)
        self.rsp = KEYS.register("RSP")
        self.rbp = KEYS.register("RBP")
        self.key_class, self.key_bit = _key_columns(self.keys)
        self._instruction_columns(flats)
        self._uop_columns(flats, microarchitecture)
        self._find_used_keys(memoryview(ints(self.keys)))
        self.key_instruction = self.instructions - 1 - self.i_second[self.instructions - 1]
        self.has_fences = 0
        self.has_moves = 0
        """Some move may be eliminated."""
        self.most_merges = 0
        self.has_special = 0
        self.longest_wait = 64
        names: dict[str, int] = {}
        for i in range(self.instructions):
            flat = flats[i]
            self.longest_wait = max(self.longest_wait, 64 + 2 * flat.wait)
            self.i_symbol_delta[i] = flat.symbol_delta
            self.i_value_delta[i] = flat.value_delta
            if flat.tp_name:
                self.i_tp_name[i] = names.setdefault(flat.tp_name, len(names))
            if self.i_eliminable[i]:
                self.has_moves = 1
            if self.i_merge_count[i] > self.most_merges:
                self.most_merges = self.i_merge_count[i]
            if self.i_load_fence[i] or self.i_store_fence[i]:
                self.has_fences = 1
            if flat.tp_name or self.has_fences:
                self.has_special = 1
        self.tp_names = len(names)

    def _instruction_columns(self, flats: list[FlatInstruction]) -> None:
        count = self.instructions
        table = memoryview(ints(count * len(INSTRUCTION_FIELDS)))
        rows = array("i")
        for flat in flats:
            rows.extend(flat.head)
        _transpose(rows, table, count, len(INSTRUCTION_FIELDS))
        self._cut_instruction_columns(table, count)
        self.i_offset = ints(count)
        self.i_idq0 = ints(count)
        self.i_uop0 = ints(count)
        self.i_outputs0 = ints(count)
        self.i_merge0 = ints(count)
        self.i_tp_name = ints(count)
        self.i_symbol_delta = longs(count)
        self.i_value_delta = longs(count)
        offset = idq = uop = outputs = merges = 0
        for i in range(count):
            self.i_offset[i] = offset
            self.i_idq0[i] = idq
            self.i_uop0[i] = uop
            self.i_outputs0[i] = outputs
            self.i_merge0[i] = merges
            offset += self.i_length[i]
            idq += self.i_idq_count[i]
            uop += self.i_uop_count[i]
            outputs += self.i_outputs_count[i]
            merges += self.i_merge_count[i]
        self.size = offset
        self.uops = uop
        self.idq_uops = idq
        registers, merged = array("i"), array("i")
        for flat in flats:
            registers.extend(flat.register_outputs)
            merged.extend(flat.merges)
        self.output_key = memoryview(registers)
        self.merge_key = memoryview(merged)

    def _uop_columns(self, flats: list[FlatInstruction], microarchitecture: Microarchitecture) -> None:
        sync = _SYNC_UOPS.get(microarchitecture.alu_ports)
        if sync is None:
            sync = _SYNC_UOPS[microarchitecture.alu_ports] = FlatUop(sync_uop(microarchitecture))
        rows, inputs, outputs = array("i"), array("i"), array("i")
        idq_sizes, fused_sizes = array("i"), array("i")
        for flat in flats:
            rows.extend(flat.uops)
            inputs.extend(flat.inputs)
            outputs.extend(flat.outputs)
            idq_sizes.extend(flat.idq_sizes)
            fused_sizes.extend(flat.fused_sizes)
        for single in (sync, *_MERGE_UOPS.values()):
            rows.extend(single.uops)
            inputs.extend(single.inputs)
            outputs.extend(single.outputs)
            idq_sizes.append(1)
            fused_sizes.append(1)

        count = self.uops + _EXTRA_UOPS
        table = memoryview(ints(count * len(UOP_FIELDS)))
        _transpose(rows, table, count, len(UOP_FIELDS))
        self._cut_uop_columns(table, count)
        self.u_in0 = ints(count)
        self.u_out0 = ints(count)
        first_input = first_output = 0
        for uop in range(count):
            self.u_in0[uop] = first_input
            self.u_out0[uop] = first_output
            first_input += self.u_in_count[uop]
            first_output += self.u_out_count[uop]
        operands = memoryview(ints(2 * first_input + 3 * first_output))
        self._cut_operand_columns(operands, inputs, outputs, first_input, first_output)

        self.q_fused_count = idq_sizes
        self.f_uop_count = fused_sizes
        self.q_fused0 = ints(len(idq_sizes))
        self.f_uop0 = ints(len(fused_sizes))
        fused = 0
        for q in range(len(idq_sizes)):
            self.q_fused0[q] = fused
            fused += idq_sizes[q]
        uop = 0
        for f in range(len(fused_sizes)):
            self.f_uop0[f] = uop
            uop += fused_sizes[f]
        self.sync_idq = self.idq_uops
        self.merge_uop = ints(self.keys)
        for number, key in enumerate(_MERGE_UOPS):
            self.merge_uop[key] = self.uops + 1 + number

    def _find_used_keys(self, used: Column) -> None:
        """Every rename key that the block reads or writes, addresses included; ``used`` is all 0."""
        self._mark(used, self.output_key)
        self._mark(used, self.merge_key)
        self._mark(used, self.u_base)
        self._mark(used, self.u_index)
        self._mark(used, self.i_move_source)
        self._mark(used, self.i_move_target)
        self._mark(used, self.i_symbol_source)
        for operand in range(len(self.in_key)):
            if not self.in_internal[operand]:
                used[self.in_key[operand]] = 1
        for operand in range(len(self.out_key)):
            if not self.out_internal[operand]:
                used[self.out_key[operand]] = 1
        count = 0
        for key in range(self.keys):
            if used[key]:
                used[count] = key
                count += 1
        self.used_key = used[:count]

    def _mark(self, used: Column, keys: Column) -> None:
        for position in range(len(keys)):
            if keys[position] >= 0:
                used[keys[position]] = 1

    def _cut_instruction_columns(self, table: Column, count: int) -> None:
        self.i_length = table[:count]
        self.i_opcode = table[1 * count : 2 * count]
        self.i_lcp = table[2 * count : 3 * count]
        self.i_branch = table[3 * count : 4 * count]
        self.i_second = table[4 * count : 5 * count]
        self.i_first = table[5 * count : 6 * count]
        self.i_fusible = table[6 * count : 7 * count]
        self.i_complex = table[7 * count : 8 * count]
        self.i_simple_decoders = table[8 * count : 9 * count]
        self.i_mite_uops = table[9 * count : 10 * count]
        self.i_ms_uops = table[10 * count : 11 * count]
        self.i_extra_slot = table[11 * count : 12 * count]
        self.i_jcc = table[12 * count : 13 * count]
        self.i_idq_count = table[13 * count : 14 * count]
        self.i_decoded_count = table[14 * count : 15 * count]
        self.i_uop_count = table[15 * count : 16 * count]
        self.i_rsp_change = table[16 * count : 17 * count]
        self.i_rsp_explicit = table[17 * count : 18 * count]
        self.i_rsp_written = table[18 * count : 19 * count]
        self.i_high8_written = table[19 * count : 20 * count]
        self.i_no_uops = table[20 * count : 21 * count]
        self.i_eliminable = table[21 * count : 22 * count]
        self.i_move_source = table[22 * count : 23 * count]
        self.i_move_target = table[23 * count : 24 * count]
        self.i_move_32 = table[24 * count : 25 * count]
        self.i_serializing = table[25 * count : 26 * count]
        self.i_load_fence = table[26 * count : 27 * count]
        self.i_store_fence = table[27 * count : 28 * count]
        self.i_tp = table[28 * count : 29 * count]
        self.i_symbol_source = table[29 * count : 30 * count]
        self.i_pointer_load = table[30 * count : 31 * count]
        self.i_outputs_count = table[31 * count : 32 * count]
        self.i_merge_count = table[32 * count : 33 * count]
        self.i_value_kind = table[33 * count : 34 * count]
        self.i_value_base = table[34 * count : 35 * count]
        self.i_value_index = table[35 * count : 36 * count]
        self.i_value_scale = table[36 * count : 37 * count]

    def _cut_uop_columns(self, table: Column, count: int) -> None:
        self.u_kind = table[:count]
        self.u_port_mask = table[1 * count : 2 * count]
        self.u_divider = table[2 * count : 3 * count]
        self.u_first = table[3 * count : 4 * count]
        self.u_last = table[4 * count : 5 * count]
        self.u_in_count = table[5 * count : 6 * count]
        self.u_out_count = table[6 * count : 7 * count]
        self.u_has_address = table[7 * count : 8 * count]
        self.u_base = table[8 * count : 9 * count]
        self.u_index = table[9 * count : 10 * count]
        self.u_scale = table[10 * count : 11 * count]
        self.u_displacement = table[11 * count : 12 * count]
        self.u_pointer_chasing = table[12 * count : 13 * count]
        self.u_wide = table[13 * count : 14 * count]
        self.u_bytes = table[14 * count : 15 * count]
        self.u_stack_offset = table[15 * count : 16 * count]

    def _cut_operand_columns(
        self, table: Column, inputs: array[int], outputs: array[int], in_count: int, out_count: int
    ) -> None:
        _transpose(inputs, table, in_count, 2)
        self.in_internal = table[:in_count]
        self.in_key = table[in_count : 2 * in_count]
        results = table[2 * in_count :]
        _transpose(outputs, results, out_count, 3)
        self.out_internal = results[:out_count]
        self.out_key = results[out_count : 2 * out_count]
        self.out_latency = results[2 * out_count :]


_KEY_COLUMNS: dict[int, tuple[array[int], array[int]]] = {}
"""The columns over rename keys, by how many have come up so far."""


def _key_columns(keys: int) -> tuple[array[int], array[int]]:
    columns = _KEY_COLUMNS.get(keys)
    if columns is None:
        classes = array("i", KEYS.classes)
        bits = array("q", [1 << key if classes[key] >= 0 else 0 for key in range(keys)])
        columns = _KEY_COLUMNS[keys] = (classes, bits)
    return columns


def _transpose(rows: array[int], table: Column, count: int, fields: int) -> None:
    """Rows one behind the other to columns one behind the other."""
    for row in range(count):
        for field in range(fields):
            table[field * count + row] = rows[row * fields + field]
