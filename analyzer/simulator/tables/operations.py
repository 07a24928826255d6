"""Properties of a block that only cores that count macro-ops need, beyond ``Program``: costs of
instructions, traits of uops, lateness of inputs, and effects of instructions on addresses."""

from __future__ import annotations

from array import array

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.uops import Block, MacroOps
from cyclelens.analyzer.simulator.tables.arrays import LongColumn, ints, longs
from cyclelens.analyzer.simulator.tables.emulation import effect_of
from cyclelens.analyzer.simulator.tables.flat import FlatInstruction, flatten
from cyclelens.analyzer.simulator.tables.program import Program
from cyclelens.analyzer.simulator.tables.rename_keys import KEYS
from cyclelens.analyzer.uops.op_cache import layout

_NO_PAIR = -1


class Operations:
    """Columns over instructions (``m_``), windows of the op cache by their first instruction (``w_``),
    effects of instructions (``e_``), uops (``t_``) and uop inputs (``late``), numbered as in ``Program``."""

    def __init__(self, program: Program, microarchitecture: Microarchitecture) -> None:
        self.program = program
        self._microarchitecture = microarchitecture
        self.instruction_pointer: int = KEYS.register("RIP")
        self._make(0, 0, 0)
        self.small_loop = False
        self.still = False
        """Whether every access of the loop goes to the same address in every round."""
        self.decoded = False
        """Whether the code comes from the decoders: it is no loop, or too long for the op cache."""

    def _make(self, instructions: int, uops: int, inputs: int) -> None:
        self.w_last = ints(instructions)
        self.w_eighths = ints(instructions)
        self.m_decode_slots = ints(instructions)
        self.m_vector_ops = ints(instructions)
        self.m_begins_group = ints(instructions)
        self.m_ends_group = ints(instructions)
        self.m_serializing = ints(instructions)
        self.m_pair_source = ints(instructions)
        """Key that the instruction copies before its own operation (the move of a pair), or -1."""
        self.m_pair_target = ints(instructions)
        self.m_load_seen = ints(instructions)
        self.e_kind = ints(instructions)
        self.e_target = ints(instructions)
        self.e_source = ints(instructions)
        self.e_index = ints(instructions)
        self.e_scale = ints(instructions)
        self.e_operation = ints(instructions)
        self.e_target_bits = ints(instructions)
        self.e_high = ints(instructions)
        self.e_memory = ints(instructions)
        self.e_memory_bits = ints(instructions)
        self.e_relative = ints(instructions)
        self.e_constant = longs(instructions)
        self.e_unknown = ints(4 * instructions)
        self.e_followed = ints(instructions)
        """Whether an address depends on the instruction's effect."""
        self.t_traits = ints(uops)
        self.t_busy = ints(uops)
        """Time for which a uop keeps its unit, in eighths of a cycle; 0: one cycle."""
        self.late = ints(inputs)

    def fill(self, block: Block) -> None:
        """Add a block that ``Program`` already holds."""
        program = self.program
        count = program.instructions
        if (
            count > len(self.m_decode_slots)
            or program.all_uops > len(self.t_traits)
            or program.inputs > len(self.late)
        ):
            self._make(2 * count, 2 * program.all_uops, 2 * program.inputs)
        uop = operand = 0
        pair = _NO_PAIR
        for i, entry in enumerate(block.entries):
            flat = flatten(entry)
            row: LongColumn = flat.macro_row or operations_row(flat)
            self._costs_and_effect(i, row)
            if row[_MOVES]:
                pair = i
            elif pair != _NO_PAIR:
                self._pair(block, pair, i)
                pair = _NO_PAIR
            count = program.i_uop_count[i]
            first_late = _FIELDS + 2 * count
            for place in range(_FIELDS, _FIELDS + count):
                self.t_traits[uop] = row[place]
                self.t_busy[uop] = row[place + count]
                uop += 1
            for place in range(first_late, len(row)):
                self.late[operand] = row[place]
                operand += 1
        self._lay_out(block)
        if pair != _NO_PAIR:
            # Straight-line code continues with its first instruction.
            self._pair(block, pair, 0)

    def _lay_out(self, block: Block) -> None:
        """Find where the windows of the op cache end, and what they cost."""
        rules = self._microarchitecture.macro_ops
        assert rules is not None
        # Straight-line code comes from the decoders.
        placed = layout(block.entries if block.loop else (), block.alignment, rules)
        self.small_loop = placed.small
        held = self._microarchitecture.dsb_lines_per_block * rules.line_entries
        self.decoded = not block.loop or placed.fullest_set > held
        for window in placed.windows:
            self.w_last[window.first] = window.last
            self.w_eighths[window.first] = window.eighths

    def follows_place(self) -> bool:
        """Whether an address depends on the position of the code."""
        program = self.program
        relative = 0
        for i in range(program.instructions):
            if self.e_relative[i]:
                relative += 1
        for static in range(program.uops):
            if program.u_base[static] == self.instruction_pointer:
                relative += 1
        return relative > 0

    def _pair(self, block: Block, move: int, operation: int) -> None:
        target, source = block.entries[move].instruction.operands
        self.m_pair_source[operation] = KEYS.register(source.register)
        self.m_pair_target[operation] = KEYS.register(target.register)

    def _costs_and_effect(self, i: int, row: LongColumn) -> None:
        self.m_decode_slots[i], self.m_vector_ops[i] = row[0], row[1]
        self.m_begins_group[i], self.m_ends_group[i], self.m_serializing[i] = row[2], row[3], row[4]
        self.m_load_seen[i] = 0
        self.m_pair_source[i] = self.m_pair_target[i] = _NO_PAIR
        self.e_kind[i], self.e_target[i], self.e_source[i], self.e_index[i] = row[6], row[7], row[8], row[9]
        self.e_scale[i], self.e_constant[i], self.e_operation[i] = row[10], row[11], row[12]
        self.e_target_bits[i], self.e_high[i], self.e_memory[i] = row[13], row[14], row[15]
        self.e_memory_bits[i], self.e_relative[i] = row[16], row[17]
        for place in range(4):
            self.e_unknown[4 * i + place] = row[18 + place]


_MOVES = 5
_FIELDS = 22
"""Behind the fields a row has, per uop, its traits, for how long it is busy, and how late each of its inputs
may come."""


def operations_row(flat: FlatInstruction) -> LongColumn:
    """The values that an instruction adds to the columns: its costs, whether it is the move of a pair, its
    effect."""
    template = flat.like.template
    uops = template.uops
    ops, effect = template.macro_ops or MacroOps(), effect_of(flat)
    unknown = (*effect.unknown, -1, -1, -1, -1)[:4]
    row = (
        *(ops.decode_slots, ops.vector_ops, ops.begins_decode_group, ops.ends_group, ops.serializing),
        *(ops.moves, effect.kind, effect.target, effect.source, effect.index, effect.scale),
        *(effect.constant, effect.operation, effect.target_bits, effect.high, effect.memory),
        *(effect.memory_bits, effect.from_instruction_pointer, *unknown),
        *(int(uop.traits) for uop in uops),
        *(uop.busy_eighths for uop in uops),
        *(late for uop in uops for late in uop.late or (0,) * len(uop.inputs)),
    )
    flat.macro_row = array("q", row)
    return flat.macro_row  # type: ignore[no-any-return]
