"""What cores that count macro-ops ask about a block beyond ``Program``: costs of instructions, traits of
uops, how late inputs may come, and what instructions do to addresses."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.uops import Block, MacroOps
from cyclelens.analyzer.simulator.tables.arrays import ints, longs
from cyclelens.analyzer.simulator.tables.emulation import Effect, effect_of
from cyclelens.analyzer.simulator.tables.flat import KEYS
from cyclelens.analyzer.simulator.tables.program import Program
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
        self.decoded = False
        """The code does not come from the op cache: it is no loop, or too long a one."""

    def _make(self, instructions: int, uops: int, inputs: int) -> None:
        self.w_last = ints(instructions)
        self.w_eighths = ints(instructions)
        self.m_decode_slots = ints(instructions)
        self.m_vector_ops = ints(instructions)
        self.m_begins_group = ints(instructions)
        self.m_ends_group = ints(instructions)
        self.m_serializing = ints(instructions)
        self.m_pair_source = ints(instructions)
        """The move that an instruction carries out before itself: the key that it copies, or -1."""
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
        self.t_traits = ints(uops)
        self.late = ints(inputs)

    def fill(self, block: Block) -> None:
        """Lay out a block that ``Program`` holds already."""
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
            template = entry.template()
            ops = template.macro_ops or MacroOps()
            self.m_decode_slots[i] = ops.decode_slots
            self.m_vector_ops[i] = ops.vector_ops
            self.m_begins_group[i] = ops.begins_decode_group
            self.m_ends_group[i] = ops.ends_group
            self.m_serializing[i] = ops.serializing
            self.m_load_seen[i] = 0
            self.m_pair_source[i] = self.m_pair_target[i] = _NO_PAIR
            if ops.moves:
                pair = i
            elif pair != _NO_PAIR:
                self._pair(block, pair, i)
                pair = _NO_PAIR
            self._effect(i, effect_of(template, template.instruction))
            for each in template.uops:
                self.t_traits[uop] = int(each.traits)
                uop += 1
                for place in range(len(each.inputs)):
                    self.late[operand] = each.late[place] if each.late else 0
                    operand += 1
        self._lay_out(block)
        if pair != _NO_PAIR:
            # Straight-line code goes on with its first instruction.
            self._pair(block, pair, 0)

    def _lay_out(self, block: Block) -> None:
        """Where the windows of the op cache end, and what they cost."""
        rules = self._microarchitecture.macro_ops
        assert rules is not None
        # Straight-line code comes from the decoders.
        placed = layout(block.instructions if block.loop else (), block.alignment, rules)
        self.small_loop = placed.small
        held = self._microarchitecture.dsb_lines_per_block * rules.line_entries
        self.decoded = not block.loop or placed.fullest_set > held
        for window in placed.windows:
            self.w_last[window.first] = window.last
            self.w_eighths[window.first] = window.eighths

    def _pair(self, block: Block, move: int, operation: int) -> None:
        target, source = block.entries[move].template().instruction.operands
        self.m_pair_source[operation] = KEYS.register(source.register)
        self.m_pair_target[operation] = KEYS.register(target.register)

    def _effect(self, i: int, effect: Effect) -> None:
        self.e_kind[i], self.e_target[i], self.e_source[i] = effect.kind, effect.target, effect.source
        self.e_index[i], self.e_scale[i] = effect.index, effect.scale
        self.e_operation[i], self.e_target_bits[i] = effect.operation, effect.target_bits
        self.e_high[i], self.e_memory[i] = effect.high, effect.memory
        self.e_memory_bits[i], self.e_relative[i] = effect.memory_bits, effect.from_instruction_pointer
        self.e_constant[i] = effect.constant
        for place in range(4):
            known = place < len(effect.unknown)
            self.e_unknown[4 * i + place] = effect.unknown[place] if known else -1
