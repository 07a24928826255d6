"""A block flattened into integer columns: everything that the stages need and that never changes in a run."""

from __future__ import annotations

from array import array

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.options import DEFAULT, ModelOptions
from cyclelens.analyzer.model.uops import Block
from cyclelens.analyzer.simulator.tables.arrays import Column, LongColumn, Strided, ints
from cyclelens.analyzer.simulator.tables.column_classes import (
    INSTRUCTIONS,
    INSTRUCTIONS_ROW,
    UOPS,
    UOPS_ROW,
    BlockColumns,
)
from cyclelens.analyzer.simulator.tables.constants import STORE_ADDRESS
from cyclelens.analyzer.simulator.tables.flat import FlatInstruction, FlatUop, flatten
from cyclelens.analyzer.simulator.tables.rename_keys import KEYS
from cyclelens.analyzer.uops.templates import merge_uop, sync_uop

_MERGED = ("RAX", "RBX", "RCX", "RDX")
_MERGE_KEYS = [KEYS.register(name) for name in _MERGED]
_SINGLES = 1 + len(_MERGED)
"""Uops outside any instruction, behind those of the block: the stack synchronisation and the merges."""
_INSTRUCTION_FIELDS = len(INSTRUCTIONS)
_UOP_FIELDS = len(UOPS)
_IDQ_COUNT = INSTRUCTIONS.index("idq_count")
_UOP_COUNT = INSTRUCTIONS.index("uop_count")
_OUTPUTS = INSTRUCTIONS.index("outputs_count")
_MERGES = INSTRUCTIONS.index("merge_count")
_FUSED = INSTRUCTIONS.index("fused_count")
_OPERANDS = INSTRUCTIONS.index("operands_count")
_RESULTS = INSTRUCTIONS.index("results_count")


class Program(BlockColumns):
    """Columns over instructions (``i_``), IDQ uops (``q_``), fused uops (``f_``), uops (``u_``), uop
    operands (``in_``, ``out_``) and rename keys (``key_``); all flags are 0 or 1.

    A program can be filled again and again; columns are as long as the longest block needed them.
    """

    def __init__(self) -> None:
        super().__init__()
        self.keys = 0
        self.rsp: int = KEYS.register("RSP")
        self.rip: int = KEYS.register("RIP")
        self.rbp: int = KEYS.register("RBP")
        self._core: Microarchitecture | None = None
        self._options: ModelOptions | None = None
        self._singles = ints(0)
        """The rows of the core's uops outside any instruction."""
        self._rows = ints(0)
        """The rows of the instructions in order, then those."""
        self._merged: Column = array("i", _MERGE_KEYS)  # type: ignore[assignment]

    def fill(
        self, block: Block, microarchitecture: Microarchitecture, options: ModelOptions = DEFAULT
    ) -> None:
        """Lay out a block; nothing of an earlier one remains."""
        flats = [getattr(entry, "flat", None) or flatten(entry) for entry in block.entries]
        if microarchitecture is not self._core or options is not self._options:
            self._choose(microarchitecture, options)
        # The simple front end has no code layout: it delivers unrolled code, whatever the mode.
        self.loop = block.loop and not self.simple_front_end
        self.alignment = block.alignment
        self.instructions = len(flats)
        # Before keys are counted: this may add new ones.
        values = [flat.value() for flat in flats] if self.exact_values else []
        self._reserve_keys()
        self._collect(flats)
        self._measure(self._rows)
        self._spread(self._rows)
        self._number()
        self._find_used_keys()
        # Halves of pairs have no uops.
        self.first_instruction = 0
        while self.first_instruction < self.instructions - 1 and not self.i_idq_count[self.first_instruction]:
            self.first_instruction += 1
        self.key_instruction = self.instructions - 1
        while self.key_instruction > 0 and not self.i_idq_count[self.key_instruction]:
            self.key_instruction -= 1
        self._sum_up(flats)
        for i, value in enumerate(values):
            self.i_value_kind[i], self.i_value_base[i], self.i_value_index[i] = value[:3]
            self.i_value_scale[i], self.i_value_delta[i] = value[3:]
        self._find_address_keys()

    def _choose(self, microarchitecture: Microarchitecture, options: ModelOptions) -> None:
        """Set what is the same for all blocks of a core."""
        self._core, self._options = microarchitecture, options
        self._singles = _singles(microarchitecture)
        self.exact_memory = options.hardware
        """Whether accesses are compared by the bytes that they touch (``memory``)."""
        self.exact_values = options.hardware or microarchitecture.tracks_values
        """Whether addresses are compared with known sums and stack-pointer moves taken into account."""
        self.simple_front_end = options.simple_front_end

    def _reserve_keys(self) -> None:
        keys = len(KEYS.classes)
        if keys != self.keys:
            self.keys = keys
            classes, bits = _key_columns(keys)
            self.key_class: Column = classes
            self.key_bit: LongColumn = bits
            self.merge_uop = ints(keys)
            self.used_key = ints(keys)
            self.address_key = ints(keys)
            self._used = ints(keys)

    def _collect(self, flats: list[FlatInstruction]) -> None:
        """Concatenate all rows."""
        size = len(self._singles)
        for i in range(self.instructions):
            flat: FlatInstruction = flats[i]
            size += flat.size()
        if size > len(self._rows):
            self._rows = ints(2 * size)
        place = 0
        for i in range(self.instructions):
            flat = flats[i]
            flat.lay(self._rows, place)
            place += flat.size()
        for number in range(len(self._singles)):
            self._rows[place + number] = self._singles[number]

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
        """Copy the concatenated rows into the tables."""
        registers = merges = idq = fused = uop = operand = result = 0
        place = 0
        for i in range(self.instructions + _SINGLES):
            head = place
            if i < self.instructions:
                row = i * INSTRUCTIONS_ROW
                _copy(rows, place, self._instructions_table, row, _INSTRUCTION_FIELDS)
            place += _INSTRUCTION_FIELDS
            for _ in range(rows[head + _OUTPUTS]):
                self.output_key[registers] = rows[place]
                registers += 1
                place += 1
            for _ in range(rows[head + _MERGES]):
                self.merge_key[merges] = rows[place]
                merges += 1
                place += 1
            for _ in range(rows[head + _IDQ_COUNT]):
                self.q_fused_count[idq] = rows[place]
                idq += 1
                place += 1
            for _ in range(rows[head + _FUSED]):
                self.f_uop_count[fused] = rows[place]
                fused += 1
                place += 1
            for _ in range(rows[head + _UOP_COUNT]):
                _copy(rows, place, self._uops_table, uop * UOPS_ROW, _UOP_FIELDS)
                uop += 1
                place += _UOP_FIELDS
            for _ in range(rows[head + _OPERANDS]):
                self.in_internal[operand] = rows[place]
                self.in_key[operand] = rows[place + 1]
                operand += 1
                place += 2
            for _ in range(rows[head + _RESULTS]):
                self.out_internal[result] = rows[place]
                self.out_key[result] = rows[place + 1]
                self.out_latency[result] = rows[place + 2]
                result += 1
                place += 3

    def _number(self) -> None:
        """Number the parts of every instruction and uop."""
        offset = idq = uop = outputs = merges = 0
        for i in range(self.instructions):
            self.i_offset[i] = offset
            self.i_idq0[i] = idq
            self.i_uop0[i] = uop
            self.i_outputs0[i] = outputs
            self.i_merge0[i] = merges
            for position in range(idq, idq + self.i_idq_count[i]):
                self.q_instruction[position] = i
            for number in range(uop, uop + self.i_uop_count[i]):
                self.u_instruction[number] = i
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
        """Uops in the largest fused uop."""
        for f in range(self.all_fused_uops):
            self.most_fused = max(self.most_fused, self.f_uop_count[f])
            self.f_uop0[f] = uop
            uop += self.f_uop_count[f]
        for q in range(self.idq_uops):
            self.q_uop0[q] = self.f_uop0[self.q_fused0[q]] - self.i_uop0[self.q_instruction[q]]
        self.sync_idq = self.idq_uops
        for number in range(len(self._merged)):
            self.merge_uop[self._merged[number]] = self.uops + 1 + number

    def _sum_up(self, flats: list[FlatInstruction]) -> None:
        """Set the properties of the block as a whole."""
        self.has_fences = 0
        self.has_moves = 0
        """Whether any move may be eliminated."""
        self.holds_issue = 0
        """Whether any instruction cannot issue with those before it: it needs a merge uop first, or it
        serializes."""
        self.moves_stack = 0
        """Whether the stack engine moves RSP for any instruction."""
        self.has_joins = 0
        """Whether any instruction's issue slots depend on the source of its uops."""
        self.most_merges = 0
        self.has_special = 0
        self.longest_wait = 64
        names: dict[str, int] = {}
        for i in range(self.instructions):
            self.longest_wait = max(self.longest_wait, 64 + 2 * self.i_wait[i])
            flat: FlatInstruction = flats[i]
            if self.i_symbol_source[i] >= 0:
                self.i_symbol_delta[i] = flat.symbol_delta
            if self.i_tp[i]:
                self.has_special = 1
                self.i_tp_name[i] = names.setdefault(flat.like.tp_name, len(names))
            if self.i_merge_count[i] or self.i_serializing[i]:
                self.holds_issue = 1
            if self.i_rsp_change[i]:
                self.moves_stack = 1
            if self.i_joins[i]:
                self.has_joins = 1
            if self.i_eliminable[i]:
                self.has_moves = 1
            if self.i_merge_count[i] > self.most_merges:
                self.most_merges = self.i_merge_count[i]
            if self.i_load_fence[i] or self.i_store_fence[i]:
                self.has_fences = 1
                self.has_special = 1
        self.adds_uops = 1 if self.moves_stack or self.most_merges else 0
        """Whether uops are added to those of the instructions (stack synchronisation, merges). They are
        numbered when they are created, and not in code order."""
        self.tp_names = len(names)
        self.compares_addresses = 1 if self.exact_values else 0
        """Whether address expressions matter: the block has stores, or loads are distinguished by address."""
        for uop in range(self.uops):
            if self.u_kind[uop] == STORE_ADDRESS:
                self.compares_addresses = 1

    def _find_used_keys(self) -> None:
        """Find every rename key that the block reads or writes, including addresses."""
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

    def _find_address_keys(self) -> None:
        """Find every rename key that addresses are made from, directly or through other registers."""
        self.address_keys = 0
        if not self.compares_addresses:
            return
        used = self._used
        for key in range(self.keys):
            used[key] = 0
        self._mark(self.u_base, self.all_uops)
        self._mark(self.u_index, self.all_uops)
        while self._mark_sources():
            pass
        for key in range(self.keys):
            if used[key]:
                self.address_key[self.address_keys] = key
                self.address_keys += 1

    def _mark_sources(self) -> int:
        """Mark the sources of marked keys; returns the number of keys added."""
        added = 0
        for i in range(self.instructions):
            made = 0
            for output in range(self.i_outputs0[i], self.i_outputs0[i] + self.i_outputs_count[i]):
                made |= self._used[self.output_key[output]]
            if made:
                added += self._mark_new(self.i_move_source[i])
                if self.exact_values:
                    added += self._mark_new(self.i_value_base[i]) + self._mark_new(self.i_value_index[i])
                else:
                    added += self._mark_new(self.i_symbol_source[i])
        return added

    def _mark_new(self, key: int) -> int:
        if key < 0 or self._used[key]:
            return 0
        self._used[key] = 1
        return 1

    def _mark(self, keys: Strided, count: int) -> None:
        for position in range(count):
            if keys[position] >= 0:
                self._used[keys[position]] = 1

    def _reserve(self) -> None:
        """Make every column long enough."""
        self._reserve_instructions(self.instructions)
        self._reserve_outputs(self.registers)
        self._reserve_merges(self.merges)
        self._reserve_idq_uops(self.all_idq_uops)
        self._reserve_fused_uops(self.all_fused_uops)
        self._reserve_uops(self.all_uops)
        self._reserve_operands(self.inputs)
        self._reserve_results(self.outputs)


def _singles(microarchitecture: Microarchitecture) -> Column:
    """The rows of the uops outside any instruction."""
    rows = array("i")
    for uop in (sync_uop(microarchitecture), *(merge_uop(microarchitecture, name) for name in _MERGED)):
        rows.extend(FlatUop(uop).rows)
    return rows  # type: ignore[return-value]


def _key_columns(keys: int) -> tuple[Column, LongColumn]:
    """The columns over the first ``keys`` rename keys."""
    classes = memoryview(array("i", KEYS.classes))
    return classes, memoryview(array("q", [1 << key if classes[key] >= 0 else 0 for key in range(keys)]))


def _copy(rows: Column, place: int, table: Column, first: int, count: int) -> None:
    for position in range(count):
        table[first + position] = rows[place + position]
