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
        cdef const int *costs
        cdef int count
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
            if flat.effect is None:
                find_macro_row(flat)
            costs = <const int *> <const char *> flat.like.costs
            self._set_costs(i, costs)
            self._set_effect(i, <const long long *> <const char *> flat.effect)
            if costs[_MOVES]:
                pair = i
            elif pair != _NO_PAIR:
                self._pair(block, pair, i)
                pair = _NO_PAIR
            count = self.program.instruction[i].uop_count
            costs += _COST_FIELDS
            for place in range(count):
                self.t_traits[uop] = costs[place]
                self.t_busy[uop] = costs[place + count]
                uop += 1
            costs += 2 * count
            for place in range(self.program.instruction[i].operands_count):
                self.late[operand] = costs[place]
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
        if not (source.register and target.register):
            raise ValueError(f"instruction {move + 1} of the block: it moves no register to another one")
        self.m_pair_source[operation] = KEYS.register(source.register)
        self.m_pair_target[operation] = KEYS.register(target.register)

    cdef void _set_costs(self, int i, const int *row) noexcept nogil:
        self.m_decode_slots[i], self.m_vector_ops[i] = row[0], row[1]
        self.m_begins_group[i], self.m_ends_group[i], self.m_serializing[i] = row[2], row[3], row[4]
        self.m_lost_slots[i] = row[5]
        self.m_load_seen[i] = 0
        self.m_pair_source[i] = self.m_pair_target[i] = _NO_PAIR

    cdef void _set_effect(self, int i, const long long *row) noexcept nogil:
        self.e_kind[i], self.e_target[i], self.e_source[i], self.e_index[i] = row[0], row[1], row[2], row[3]
        self.e_scale[i], self.e_constant[i], self.e_operation[i] = row[4], row[5], row[6]
        self.e_target_bits[i], self.e_high[i], self.e_memory[i] = row[7], row[8], row[9]
        self.e_memory_bits[i], self.e_relative[i] = row[10], row[11]
        for place in range(4):
            self.e_unknown[4 * i + place] = row[12 + place]

cdef enum:
    _MOVES = 6
    _COST_FIELDS = 7


cdef int find_macro_row(FlatInstruction flat) except -1:
    """Find what an instruction adds to the tables, and what its siblings add with it."""
    template = flat.like.template
    if flat.like.costs is None:
        flat.like.costs = _macro_costs(template)
    effect = effect_of(template, flat.instruction, flat.output_keys())
    for key in (effect.target, effect.source, effect.index, *effect.unknown):
        _check_number(template.name, "register that is followed", key, NO_KEY, _REGISTERS - 1)
    row = (
        *(effect.kind, effect.target, effect.source, effect.index, effect.scale, effect.constant),
        *(effect.operation, effect.target_bits, effect.high, effect.memory, effect.memory_bits),
        *(effect.from_instruction_pointer, *effect.unknown, -1, -1, -1, -1),
    )
    flat.effect = array("q", row).tobytes()


cdef bytes _macro_costs(object template):
    """The costs of an instruction, whether it is the move of a pair, the traits of its uops, how long each
    keeps its unit busy, how late each of their inputs may come, and what it takes in the op cache."""
    cdef object number
    ops, uops, name = template.macro_ops or MacroOps(), template.uops, template.name
    costs = [ops.decode_slots, ops.vector_ops, ops.begins_decode_group, ops.ends_group, ops.serializing]
    costs += [ops.lost_slots, ops.moves]
    cached = [ops.entries, ops.fields, ops.wide_fields, ops.evex]
    of_uops = [*[int(uop.traits) for uop in uops], *[uop.busy_eighths for uop in uops]]
    late = [each for uop in uops for each in uop.late or (0,) * len(uop.inputs)]
    for number in of_uops:
        _check_number(name, "time in eighths, or a trait, of a uop", number, 0, _MOST_TIME)
    for number in late:
        _check_number(name, "delay of an input", number, -_MOST_TIME, _MOST_TIME)
    for number in costs + cached:
        _check_number(name, "cost in macro-ops", number, 0, _MOST_PARTS)
    return array("i", costs + of_uops + late + cached).tobytes()


def laid_out(entry):
    """What an entry of a block is laid out as: its integers, the value that it makes, and its row for cores
    that count macro-ops (None without one)."""
    flat = flatten(entry)
    row = None
    if flat.like.template.macro_ops is not None:
        find_macro_row(flat)
        row = [*array("i", flat.like.costs), *array("q", flat.effect)]
    return list(flat.integers()), flat.value(), row
