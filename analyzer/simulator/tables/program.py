"""A block flattened into integer columns: all that the stages need and that never changes in a run."""

from __future__ import annotations

from array import array

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.options import PUBLISHED, ModelOptions
from cyclelens.analyzer.model.units import Role
from cyclelens.analyzer.model.uops import Block
from cyclelens.analyzer.simulator.tables.arrays import Column, ints, longs
from cyclelens.analyzer.simulator.tables.flat import (
    INSTRUCTION_FIELDS,
    KEYS,
    UOP_FIELDS,
    FlatInstruction,
    FlatUop,
    flatten,
)
from cyclelens.analyzer.uops.block import merge_uop, sync_uop

_MERGED = ("RAX", "RBX", "RCX", "RDX")
_MERGE_KEYS = [KEYS.register(name) for name in _MERGED]
_SINGLES = 1 + len(_MERGED)
"""Uops that stand alone, behind those of the block: the stack synchronisation and the merges."""
_INSTRUCTION_FIELDS = len(INSTRUCTION_FIELDS)
_UOP_FIELDS = len(UOP_FIELDS)
_IDQ_COUNT = INSTRUCTION_FIELDS.index("idq_count")
_UOP_COUNT = INSTRUCTION_FIELDS.index("uop_count")
_OUTPUTS = INSTRUCTION_FIELDS.index("outputs_count")
_MERGES = INSTRUCTION_FIELDS.index("merge_count")
_FUSED = INSTRUCTION_FIELDS.index("fused_count")
_OPERANDS = INSTRUCTION_FIELDS.index("operands_count")
_RESULTS = INSTRUCTION_FIELDS.index("results_count")
_SINGLE_ROWS: dict[tuple[int, int], array[int]] = {}


class Program:
    """Columns over instructions (``i_``), IDQ uops (``q_``), fused uops (``f_``), uops (``u_``), uop
    operands (``in_``, ``out_``) and rename keys (``key_``); all flags are 0 or 1.

    A program can be filled again and again; columns are as long as the longest block needed them.
    """

    def __init__(self) -> None:
        self.keys = 0
        self._instruction_room = 0
        self._uop_room = 0
        self._input_room = 0
        self._output_room = 0
        self._register_room = 0
        self._queue_room = 0
        self._instruction_table = memoryview(ints(0))
        self._uop_table = memoryview(ints(0))
        self._input_table = memoryview(ints(0))
        self._output_table = memoryview(ints(0))
        self.output_key = ints(0)
        self.merge_key = ints(0)

    def fill(
        self, block: Block, microarchitecture: Microarchitecture, options: ModelOptions = PUBLISHED
    ) -> None:
        """Lay out a block; nothing of an earlier one remains."""
        flats = [flatten(entry) for entry in block.entries]
        self.exact_memory = options.hardware
        """Accesses are compared by the bytes they touch (``memory``)."""
        self.simple_front_end = options.simple_front_end
        # That one knows no code layout: it delivers unrolled code, whatever the mode.
        self.loop = block.loop and not options.simple_front_end
        self.alignment = block.alignment
        self.instructions = len(flats)
        # Before the keys are counted: their rules may name new ones.
        values = [flat.value() for flat in flats] if self.exact_memory else []
        self._reserve_keys()
        rows = array("i")
        for flat in flats:
            rows.extend(flat.rows)
        rows.extend(_singles(microarchitecture))
        self._measure(rows)  # type: ignore[arg-type]
        self._spread(rows)  # type: ignore[arg-type]
        self._number()
        self._find_used_keys()
        self.key_instruction = self.instructions - 1 - self.i_second[self.instructions - 1]
        self._sum_up(flats)
        for i, value in enumerate(values):
            self.i_value_kind[i], self.i_value_base[i], self.i_value_index[i] = value[:3]
            self.i_value_scale[i], self.i_value_delta[i] = value[3:]

    def _reserve_keys(self) -> None:
        self.rsp = KEYS.register("RSP")
        self.rbp = KEYS.register("RBP")
        keys = len(KEYS.classes)
        if keys != self.keys:
            self.keys = keys
            self.key_class, self.key_bit = _key_columns(keys)
            self.merge_uop = ints(keys)
            self.used_key = ints(keys)
            self._used = ints(keys)

    def _measure(self, rows: Column) -> None:
        """Count all parts of the rows and make room for them."""
        self.registers = self.merges = self.all_idq_uops = self.all_fused_uops = 0
        self.all_uops = self.inputs = self.outputs = 0
        head = 0
        for _ in range(self.instructions + _SINGLES):
            self.registers += rows[head + _OUTPUTS]
            self.merges += rows[head + _MERGES]
            self.all_idq_uops += rows[head + _IDQ_COUNT]
            self.all_fused_uops += rows[head + _FUSED]
            self.all_uops += rows[head + _UOP_COUNT]
            self.inputs += rows[head + _OPERANDS]
            self.outputs += rows[head + _RESULTS]
            sizes = rows[head + _OUTPUTS] + rows[head + _MERGES] + rows[head + _IDQ_COUNT]
            sizes += rows[head + _FUSED] + rows[head + _UOP_COUNT] * _UOP_FIELDS
            head += _INSTRUCTION_FIELDS + sizes + rows[head + _OPERANDS] * 2 + rows[head + _RESULTS] * 3
        self._reserve()

    def _spread(self, rows: Column) -> None:
        """Rows one behind the other to columns."""
        registers = merges = idq = fused = uop = operand = result = 0
        place = 0
        for i in range(self.instructions + _SINGLES):
            head = place
            if i < self.instructions:
                table = self._instruction_table
                _transpose(rows, head, table, self._instruction_room, i, 1, _INSTRUCTION_FIELDS)
            place += _INSTRUCTION_FIELDS
            count = rows[head + _OUTPUTS]
            _copy(rows, place, self.output_key, registers, count)
            place += count
            registers += count
            count = rows[head + _MERGES]
            _copy(rows, place, self.merge_key, merges, count)
            place += count
            merges += count
            count = rows[head + _IDQ_COUNT]
            _copy(rows, place, self.q_fused_count, idq, count)
            place += count
            idq += count
            count = rows[head + _FUSED]
            _copy(rows, place, self.f_uop_count, fused, count)
            place += count
            fused += count
            count = rows[head + _UOP_COUNT]
            _transpose(rows, place, self._uop_table, self._uop_room, uop, count, _UOP_FIELDS)
            place += count * _UOP_FIELDS
            uop += count
            count = rows[head + _OPERANDS]
            _transpose(rows, place, self._input_table, self._input_room, operand, count, 2)
            place += count * 2
            operand += count
            count = rows[head + _RESULTS]
            _transpose(rows, place, self._output_table, self._output_room, result, count, 3)
            place += count * 3
            result += count

    def _number(self) -> None:
        """Where the parts of every instruction and uop begin."""
        offset = idq = uop = outputs = merges = 0
        for i in range(self.instructions):
            self.i_offset[i] = offset
            self.i_idq0[i] = idq
            self.i_uop0[i] = uop
            self.i_outputs0[i] = outputs
            self.i_merge0[i] = merges
            for position in range(idq, idq + self.i_idq_count[i]):
                self.q_instruction[position] = i
            offset += self.i_length[i]
            idq += self.i_idq_count[i]
            uop += self.i_uop_count[i]
            outputs += self.i_outputs_count[i]
            merges += self.i_merge_count[i]
        self.size = offset
        self.uops = uop
        self.idq_uops = idq
        first_input = first_output = 0
        for number in range(self.all_uops):
            self.u_in0[number] = first_input
            self.u_out0[number] = first_output
            first_input += self.u_in_count[number]
            first_output += self.u_out_count[number]
        fused = 0
        for q in range(self.all_idq_uops):
            self.q_fused0[q] = fused
            fused += self.q_fused_count[q]
        uop = 0
        self.most_fused = 1
        """Uops of the largest fused uop."""
        for f in range(self.all_fused_uops):
            self.most_fused = max(self.most_fused, self.f_uop_count[f])
            self.f_uop0[f] = uop
            uop += self.f_uop_count[f]
        self.sync_idq = self.idq_uops
        for number in range(len(_MERGE_KEYS)):
            self.merge_uop[_MERGE_KEYS[number]] = self.uops + 1 + number

    def _sum_up(self, flats: list[FlatInstruction]) -> None:
        """What is true of the block as a whole."""
        self.has_fences = 0
        self.has_moves = 0
        """Some move may be eliminated."""
        self.most_merges = 0
        self.has_special = 0
        self.longest_wait = 64
        names: dict[str, int] = {}
        for i in range(self.instructions):
            self.longest_wait = max(self.longest_wait, 64 + 2 * self.i_wait[i])
            if self.i_symbol_source[i] >= 0:
                self.i_symbol_delta[i] = flats[i].symbol_delta
            if self.i_tp[i]:
                self.has_special = 1
                self.i_tp_name[i] = names.setdefault(flats[i].tp_name, len(names))
            if self.i_eliminable[i]:
                self.has_moves = 1
            if self.i_merge_count[i] > self.most_merges:
                self.most_merges = self.i_merge_count[i]
            if self.i_load_fence[i] or self.i_store_fence[i]:
                self.has_fences = 1
                self.has_special = 1
        self.tp_names = len(names)

    def _find_used_keys(self) -> None:
        """Every rename key that the block reads or writes, addresses included."""
        used = self._used
        for key in range(self.keys):
            used[key] = 0
        self._mark(self.output_key, self.registers)
        self._mark(self.merge_key, self.merges)
        self._mark(self.u_base, self.all_uops)
        self._mark(self.u_index, self.all_uops)
        self._mark(self.i_move_source, self.instructions)
        self._mark(self.i_move_target, self.instructions)
        self._mark(self.i_symbol_source, self.instructions)
        for operand in range(self.inputs):
            if not self.in_internal[operand]:
                used[self.in_key[operand]] = 1
        for operand in range(self.outputs):
            if not self.out_internal[operand]:
                used[self.out_key[operand]] = 1
        self.used_keys = 0
        for key in range(self.keys):
            if used[key]:
                self.used_key[self.used_keys] = key
                self.used_keys += 1

    def _mark(self, keys: Column, count: int) -> None:
        for position in range(count):
            if keys[position] >= 0:
                self._used[keys[position]] = 1

    def _reserve(self) -> None:
        """Make every column long enough."""
        if self.instructions > self._instruction_room:
            self._instruction_room = _room(self.instructions)
            self._cut_instruction_columns(self._instruction_room)
        if self.all_uops > self._uop_room:
            self._uop_room = _room(self.all_uops)
            self._cut_uop_columns(self._uop_room)
        if self.inputs > self._input_room:
            self._input_room = _room(self.inputs)
            table = self._input_table = memoryview(ints(2 * self._input_room))
            self.in_internal = table[: self._input_room]
            self.in_key = table[self._input_room :]
        if self.outputs > self._output_room:
            room = self._output_room = _room(self.outputs)
            table = self._output_table = memoryview(ints(3 * room))
            self.out_internal = table[:room]
            self.out_key = table[room : 2 * room]
            self.out_latency = table[2 * room :]
        registers = max(self.registers, self.merges)
        if registers > self._register_room:
            self._register_room = _room(registers)
            self.output_key = ints(self._register_room)
            self.merge_key = ints(self._register_room)
        queued = max(self.all_idq_uops, self.all_fused_uops)
        if queued > self._queue_room:
            self._queue_room = _room(queued)
            self.q_fused_count = ints(self._queue_room)
            self.f_uop_count = ints(self._queue_room)
            self.q_fused0 = ints(self._queue_room)
            self.q_instruction = ints(self._queue_room)
            self.f_uop0 = ints(self._queue_room)

    def _cut_instruction_columns(self, room: int) -> None:
        table = self._instruction_table = memoryview(ints(room * _INSTRUCTION_FIELDS))
        self.i_length = table[0 * room : 1 * room]
        self.i_opcode = table[1 * room : 2 * room]
        self.i_lcp = table[2 * room : 3 * room]
        self.i_branch = table[3 * room : 4 * room]
        self.i_second = table[4 * room : 5 * room]
        self.i_first = table[5 * room : 6 * room]
        self.i_fusible = table[6 * room : 7 * room]
        self.i_complex = table[7 * room : 8 * room]
        self.i_simple_decoders = table[8 * room : 9 * room]
        self.i_mite_uops = table[9 * room : 10 * room]
        self.i_ms_uops = table[10 * room : 11 * room]
        self.i_extra_slot = table[11 * room : 12 * room]
        self.i_jcc = table[12 * room : 13 * room]
        self.i_idq_count = table[13 * room : 14 * room]
        self.i_decoded_count = table[14 * room : 15 * room]
        self.i_uop_count = table[15 * room : 16 * room]
        self.i_rsp_change = table[16 * room : 17 * room]
        self.i_rsp_explicit = table[17 * room : 18 * room]
        self.i_rsp_written = table[18 * room : 19 * room]
        self.i_high8_written = table[19 * room : 20 * room]
        self.i_no_uops = table[20 * room : 21 * room]
        self.i_eliminable = table[21 * room : 22 * room]
        self.i_move_source = table[22 * room : 23 * room]
        self.i_move_target = table[23 * room : 24 * room]
        self.i_move_32 = table[24 * room : 25 * room]
        self.i_serializing = table[25 * room : 26 * room]
        self.i_load_fence = table[26 * room : 27 * room]
        self.i_store_fence = table[27 * room : 28 * room]
        self.i_tp = table[28 * room : 29 * room]
        self.i_symbol_source = table[29 * room : 30 * room]
        self.i_pointer_load = table[30 * room : 31 * room]
        self.i_wait = table[31 * room : 32 * room]
        self.i_outputs_count = table[32 * room : 33 * room]
        self.i_merge_count = table[33 * room : 34 * room]
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

    def _cut_uop_columns(self, room: int) -> None:
        table = self._uop_table = memoryview(ints(room * _UOP_FIELDS))
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


def _singles(microarchitecture: Microarchitecture) -> array[int]:
    """The rows of the uops that stand alone."""
    units = microarchitecture.units
    key = units.having(Role.ALU).mask, units.having(Role.MERGE).mask
    rows = _SINGLE_ROWS.get(key)
    if rows is None:
        rows = array("i")
        merges = (merge_uop(microarchitecture, name) for name in _MERGED)
        for uop in (sync_uop(microarchitecture), *merges):
            rows.extend(FlatUop(uop).rows)
        _SINGLE_ROWS[key] = rows
    return rows


def _room(count: int) -> int:
    """Some more than what is needed, so that few blocks need new columns."""
    return 64 + 2 * count


_KEY_COLUMNS: dict[int, tuple[array[int], array[int]]] = {}
"""The columns over rename keys, by how many have come up so far."""


def _key_columns(keys: int) -> tuple[array[int], array[int]]:
    columns = _KEY_COLUMNS.get(keys)
    if columns is None:
        classes = array("i", KEYS.classes)
        bits = array("q", [1 << key if classes[key] >= 0 else 0 for key in range(keys)])
        columns = _KEY_COLUMNS[keys] = (classes, bits)
    return columns


def _transpose(
    rows: Column, place: int, table: Column, room: int, first: int, count: int, fields: int
) -> None:
    """Rows one behind the other to columns of this room one behind the other, from ``first`` on."""
    for row in range(count):
        for field in range(fields):
            table[field * room + first + row] = rows[place + row * fields + field]


def _copy(rows: Column, place: int, column: Column, first: int, count: int) -> None:
    for position in range(count):
        column[first + position] = rows[place + position]
