# Properties of a block that only cores that count macro-ops need, beyond ``Program``: costs of
# instructions, traits of uops, lateness of inputs, and effects of instructions on addresses.

cdef enum:
    _NO_PAIR = -1


@cython.final
cdef class Operations:
    """Tables over instructions (``m_``), windows of the op cache by their first instruction (``w_``),
    effects of instructions (``e_``), uops (``t_``) and uop inputs (``late``), numbered as in ``Program``."""

    cdef Program program
    cdef object _microarchitecture
    cdef int instruction_pointer
    cdef bint small_loop
    cdef bint still  # Whether every access of the loop goes to the same address in every round.
    # Whether the code comes from the decoders: it is no loop, or too long for the op cache.
    cdef bint decoded
    cdef int[::1] w_last
    cdef int[::1] w_eighths
    cdef int[::1] m_decode_slots
    cdef int[::1] m_vector_ops
    cdef int[::1] m_begins_group
    cdef int[::1] m_ends_group
    cdef int[::1] m_serializing
    cdef int[::1] m_lost_slots
    # Key that the instruction copies before its own operation (the move of a pair), or -1.
    cdef int[::1] m_pair_source
    cdef int[::1] m_pair_target
    cdef int[::1] m_load_seen
    cdef int[::1] e_kind
    cdef int[::1] e_target
    cdef int[::1] e_source
    cdef int[::1] e_index
    cdef int[::1] e_scale
    cdef int[::1] e_operation
    cdef int[::1] e_target_bits
    cdef int[::1] e_high
    cdef int[::1] e_memory
    cdef int[::1] e_memory_bits
    cdef int[::1] e_relative
    cdef long long[::1] e_constant
    cdef int[::1] e_unknown
    cdef int[::1] e_followed  # Whether an address depends on the instruction's effect.
    cdef int[::1] t_traits
    cdef int[::1] t_busy  # Time for which a uop keeps its unit, in eighths of a cycle; 0: one cycle.
    cdef int[::1] late

    def __init__(self, Program program, microarchitecture):
        self.program = program
        self._microarchitecture = microarchitecture
        self.instruction_pointer = KEYS.register("RIP")
        self._make(0, 0, 0)
        self.small_loop = False
        self.still = False
        self.decoded = False

    cdef int _make(self, int instructions, int uops, int inputs) except -1:
        self.w_last = ints(instructions)
        self.w_eighths = ints(instructions)
        self.m_decode_slots = ints(instructions)
        self.m_vector_ops = ints(instructions)
        self.m_begins_group = ints(instructions)
        self.m_ends_group = ints(instructions)
        self.m_serializing = ints(instructions)
        self.m_lost_slots = ints(instructions)
        self.m_pair_source = ints(instructions)
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
        self.t_traits = ints(uops)
        self.t_busy = ints(uops)
        self.late = ints(inputs)

    cdef int fill(self, object block) except -1:
        """Add a block that ``Program`` already holds."""
        cdef long long[::1] row
        cdef FlatInstruction flat
        count = self.program.instructions
        if (
            count > len(self.m_decode_slots)
            or self.program.all_uops > len(self.t_traits)
            or self.program.inputs > len(self.late)
        ):
            self._make(2 * count, 2 * self.program.all_uops, 2 * self.program.inputs)
        uop = operand = 0
        pair = _NO_PAIR
        for i, entry in enumerate(block.entries):
            flat = flatten(entry)
            row = operations_row(flat) if flat.macro_row is None else flat.macro_row
            self._costs_and_effect(i, row)
            if row[_MOVES]:
                pair = i
            elif pair != _NO_PAIR:
                self._pair(block, pair, i)
                pair = _NO_PAIR
            count = self.program.instruction[i].uop_count
            first_late = _OPERATION_FIELDS + 2 * count
            for place in range(_OPERATION_FIELDS, _OPERATION_FIELDS + count):
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

    cdef int _lay_out(self, object block) except -1:
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

    cdef bint follows_place(self) noexcept nogil:
        """Whether an address depends on the position of the code."""
        relative = 0
        for i in range(self.program.instructions):
            if self.e_relative[i]:
                relative += 1
        for static in range(self.program.uops):
            if self.program.uop[static].base == self.instruction_pointer:
                relative += 1
        return relative > 0

    cdef int _pair(self, object block, int move, int operation) except -1:
        target, source = block.entries[move].instruction.operands
        self.m_pair_source[operation] = KEYS.register(source.register)
        self.m_pair_target[operation] = KEYS.register(target.register)

    cdef void _costs_and_effect(self, int i, long long[::1] row) noexcept nogil:
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
        self.m_lost_slots[i] = row[22]

cdef enum:
    _MOVES = 5
    # After these fields a row has the traits of every uop, then how long each keeps its unit busy, then
    # how late each of their inputs may come.
    _OPERATION_FIELDS = 23


def operations_row(FlatInstruction flat):
    """The values that an instruction adds to the tables: its costs, whether it is the move of a pair, its
    effect."""
    template = flat.like.template
    uops = template.uops
    ops, effect = template.macro_ops or MacroOps(), effect_of(template, flat.instruction, flat.output_keys())
    unknown = (*effect.unknown, -1, -1, -1, -1)[:4]
    row = (
        *(ops.decode_slots, ops.vector_ops, ops.begins_decode_group, ops.ends_group, ops.serializing),
        *(ops.moves, effect.kind, effect.target, effect.source, effect.index, effect.scale),
        *(effect.constant, effect.operation, effect.target_bits, effect.high, effect.memory),
        *(effect.memory_bits, effect.from_instruction_pointer, *unknown, ops.lost_slots),
        *(int(uop.traits) for uop in uops),
        *(uop.busy_eighths for uop in uops),
    )
    late = tuple(each for uop in uops for each in uop.late or (0,) * len(uop.inputs))
    flat.macro_row = array("q", row + late)
    for number in row[_OPERATION_FIELDS:]:
        _check_number(template.name, "time in eighths, or a trait, of a uop", number, 0, _MOST_TIME)
    for number in late:
        _check_number(template.name, "delay of an input", number, -_MOST_TIME, _MOST_TIME)
    for number in row[:_MOVES]:
        _check_number(template.name, "cost in macro-ops", number, 0, _MOST_PARTS)
    _check_number(template.name, "number of lost slots", ops.lost_slots, 0, _MOST_PARTS)
    return flat.macro_row


def laid_out(entry):
    """What an entry of a block is laid out as: its integers, the value that it makes, and its row for cores
    that count macro-ops (None without one)."""
    flat = flatten(entry)
    row = None if flat.like.template.macro_ops is None else list(operations_row(flat))
    return list(flat.integers()), flat.value(), row
