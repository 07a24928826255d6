# Flattens each instruction template to structs, once; programs are assembled from these.
#
# Operands are rename keys: numbers of canonical registers and flag groups, the same in every program.

cdef int _INSTRUCTION_INTS = sizeof(Instruction) // sizeof(int)
cdef int _UOP_INTS = sizeof(BlockUop) // sizeof(int)

cdef enum:
    _NAMELESS = 1 << 16  # Larger than all keys; marks a class of registers that replaces a key.

_POINTER_LOADS = frozenset(
    {
        "MOV (R64, M64)",
        "MOV (RAX, M64)",
        "MOV (R32, M32)",
        "MOV (EAX, M32)",
        "MOVSXD (R64, M32)",
        "POP (R64)",
    }
)
cdef enum:
    _MAX_POINTER_CHASING_DISPLACEMENT = 2047

_INTERNAL = ValueKind.INTERNAL
cdef int _RIP = KEYS.register("RIP")
_HIGH8 = ("AH", "BH", "CH", "DH")

cdef struct KeyPlace:
    # Where the integers hold a register or flag, and which of the instruction's ``keys`` it is.
    int place
    int slot


cdef struct AddressPlace:
    # Where a uop with a known address begins, whether it loads, and whether the instruction encodes scale and
    # displacement.
    int start
    int loads
    int encoded
    int base  # Which of the ``keys`` is its base; NONE without one.


cdef class FlatOriginal:
    """An instruction with its own template, as one array of integers: an ``Instruction``, the keys of its
    register outputs and merges, the sizes of IDQ uops and fused uops, then a ``BlockUop``, ``Operand`` and
    ``Result`` for every uop, uop operand and uop result. The arrays of siblings (``FlatInstruction``) differ
    only in names and numbers."""

    cdef readonly object template
    cdef object instruction
    cdef object encoding
    cdef bytes _names
    cdef readonly object tp_name
    cdef int symbol_sign
    cdef bint adds
    cdef bint merges
    cdef bint stores
    cdef bint jumps
    # Whether each address is one register and a constant: the model compares the sum of two registers, or the
    # instruction pointer and its page, by numbers that may accidentally be those of another register.
    cdef bint simple
    cdef bytes costs  # What cores that count macro-ops need besides (``_macro_costs``); None until then.
    cdef int *ints
    cdef int length  # Number of these integers.
    # Registers and flags in the integers, except the merges, which siblings share.
    cdef KeyPlace *key_places
    cdef int key_count
    cdef bytes keys  # Registers and flags, each once.
    cdef AddressPlace *addresses
    cdef int address_count
    cdef bint chases  # Whether the address of a load decides if it may chase a pointer.

    def __dealloc__(self):
        free(self.ints)
        free(self.key_places)
        free(self.addresses)

    def __init__(self, template, names=()):
        """``names``: registers that siblings replace by their own."""
        cdef Instruction head
        instruction = template.instruction
        self.template = template
        self.instruction = instruction
        self.encoding = instruction.encoding
        self._names = bytes(map(KEYS.register, names))
        self.tp_name = template.occupies if template.tp else ""
        continues, sign = symbol_rule(template, instruction)
        self.symbol_sign = sign
        inputs, outputs = template.register_inputs, template.register_outputs
        read, written = [each.canonical for each in inputs], [each.canonical for each in outputs]
        source = KEYS.register(read[0]) if continues else NO_KEY
        eliminable = template.eliminable_move
        self.adds = template.added is not None
        moves = eliminable or self.adds
        if moves and (len(written) != 1 or (eliminable and (len(read) != 1 or template.memory_operands))):
            raise ValueError(f"{template.name}: the renamer cannot carry it out: no move or addition")
        owed = (*map(KEYS.register, template.offset_registers), NO_KEY, NO_KEY)
        results = [latency for uop in template.uops for _, latency in uop.outputs]
        memset(&head, 0, sizeof(head))
        head.length = instruction.length
        head.opcode = instruction.opcode_offset
        head.lcp = template.length_changing_prefix
        head.branch = template.is_branch
        head.jump = template.is_jump
        head.second = template.fused_with_previous
        head.first = template.fused_with_next
        head.fusible = template.macro_fusible
        head.complex_decoder = template.complex_decoder
        head.simple_decoders = template.available_simple_decoders
        head.mite_uops = template.mite_uops
        head.ms_uops = template.ms_uops
        immediate = instruction.immediate
        head.extra_slot = immediate is not None and _needs_extra_slot(template, immediate)
        head.jcc = template.jcc_erratum
        head.idq_count = len(template.idq_uops)
        head.decoded_count = min(template.mite_uops, len(template.idq_uops))
        head.uop_count = len(template.uops)
        head.rsp_change = template.rsp_change
        head.rsp_step = template.rsp_step
        head.rsp_explicit = template.reads_stack_offset and (
            "RSP" in read
            or any([r.canonical == "RSP" and not r.implicit_stack for r in template.address_inputs])
        )
        head.rsp_written = "RSP" in written
        head.high8_written = any([r.name in _HIGH8 for r in outputs])
        head.no_uops = template.uop_count == 0
        head.eliminable = eliminable
        head.move_source = KEYS.register(read[0]) if moves and inputs else NO_KEY
        head.move_target = KEYS.register(written[0]) if moves else NO_KEY
        head.move_32 = eliminable and outputs[0].width == 32
        head.adds = self.adds
        head.added = template.added or 0
        head.offset_key0 = owed[0]
        head.offset_key1 = owed[1]
        head.takes_over = len(template.memory_operands) > 0 and takes_over(template)
        head.stands_alone = head.takes_over and stands_alone(template)
        head.joins = template.joins_next
        head.serializing = template.serializing
        head.load_fence = template.load_serializing
        head.store_fence = template.store_serializing
        head.tp = template.tp or 0
        head.tp_after_wait = template.tp_after_wait or head.tp
        head.symbol_source = source
        head.pointer_load = template.name in _POINTER_LOADS
        dividers = [uop.divider_cycles for uop in template.uops]
        head.wait = max(head.tp_after_wait, *results, 0) + max(dividers, default=0)
        head.outputs_count = len(outputs)
        head.merge_count = len(template.merge_uops)
        head.fused_count = len(template.fused_uops)
        head.operands_count = sum([len(uop.inputs) for uop in template.uops])
        head.results_count = len(results)
        self.merges = len(template.merge_uops) > 0
        self.jumps = head.jump
        self.stores = STORE_ADDRESS in [uop.kind for uop in template.uops]
        self._lay(&head, written, template.merge_uops, template.idq_uops, template.fused_uops, template.uops)

    cdef bytes _renamed_keys(self, object names):
        """Registers and flags, each once, of a sibling with these names."""
        return self.keys.translate(bytes.maketrans(self._names, bytes(map(KEYS.register, names))))

    cdef tuple without_names(self, int *ints):
        """The integers of this instruction or a sibling as bytes, without addresses, with classes instead of
        registers and flags, and with marks for equal ones. The second value also omits what only predecoder
        and decoders need."""
        cdef BlockUop *uop
        cdef Instruction *head = <Instruction *> ints
        cdef bytes slots = (<char *> self.key_places)[: self.key_count * sizeof(KeyPlace)]
        classes = KEYS.classes
        for number in range(self.key_count):
            ints[self.key_places[number].place] = _NAMELESS + <int> classes[
                self.keys[self.key_places[number].slot]
            ]
        for number in range(self.address_count):
            uop = <BlockUop *> (ints + self.addresses[number].start)
            uop.scale = uop.displacement = 0
        decoded = (<char *> ints)[: self.length * sizeof(int)] + slots
        # ``Layout.key`` contains these where they matter.
        head.length = head.opcode = head.lcp = head.fusible = head.complex_decoder = head.simple_decoders = 0
        return decoded, (<char *> ints)[: self.length * sizeof(int)] + slots

    cdef int _lay(
        self, Instruction *head, list written, object merged, object idq_uops, object fused_uops, object uops
    ) except -1:
        """Set the integers, and note where they hold registers, flags and addresses."""
        cdef BlockUop *row
        cdef AddressPlace *address
        cdef dict slots = {}
        cdef int place, own = 5  # Keys of ``Instruction``.
        sizes = [*map(KEYS.register, merged), *idq_uops, *fused_uops]
        operands, results = head.operands_count, head.results_count
        place = _INSTRUCTION_INTS + len(written) + len(sizes)
        self.length = place + _UOP_INTS * len(uops) + 2 * operands + 3 * results
        self.ints = <int *> enlarged(NULL, 0, self.length * sizeof(int))
        own += len(written) + 2 * len(uops) + operands + results
        self.key_places = <KeyPlace *> enlarged(NULL, 0, own * sizeof(KeyPlace))
        self.addresses = <AddressPlace *> enlarged(NULL, 0, (1 + len(uops)) * sizeof(AddressPlace))
        self.key_count = self.address_count = 0
        self.chases = False
        self.simple = True
        memcpy(self.ints, head, sizeof(Instruction))
        self._note_key(slots, &head.move_source - <int *> head)
        self._note_key(slots, &head.move_target - <int *> head)
        self._note_key(slots, &head.symbol_source - <int *> head)
        self._note_key(slots, &head.offset_key0 - <int *> head)
        self._note_key(slots, &head.offset_key1 - <int *> head)
        for number, name in enumerate(written, _INSTRUCTION_INTS):
            self.ints[number] = KEYS.register(name)
            self._note_key(slots, number)
        for number, size in enumerate(sizes, _INSTRUCTION_INTS + len(written)):
            self.ints[number] = size
        for position, uop in enumerate(uops):
            row = <BlockUop *> (self.ints + place)
            self._fill_uop(row, uop)
            row.first = position == 0
            row.last = position + 1 == len(uops)
            self._note_key(slots, place + (&row.base - <int *> row))
            self._note_key(slots, place + (&row.index - <int *> row))
            if row.has_address:
                address = &self.addresses[self.address_count]
                self.address_count += 1
                address.start = place
                address.loads = row.kind == LOAD
                address.base = NONE if row.base == NO_KEY else slots[row.base]
                access = self.template.memory_operands[uop.memory_operand]
                # A second address, the stack's, has only a base. The distance of a call is no address.
                called = self.instruction.branch_displacement is not None
                address.encoded = access.scale is not None and not called
                self.chases = self.chases or (address.loads and address.encoded and row.base >= 0)
                self.simple = self.simple and row.index == NO_KEY and row.base != _RIP
            place += _UOP_INTS
        for uop in uops:
            for value in uop.inputs:
                self._lay_value(slots, place, value)
                place += 2
        for uop in uops:
            for value, latency in uop.outputs:
                self._lay_value(slots, place, value)
                self.ints[place + 2] = latency
                place += 3
        check_row(self.ints, "a uop between instructions" if self.template is None else self.template.name)
        self.keys = bytes(slots)

    cdef int _lay_value(self, dict slots, int place, tuple value) except -1:
        """Set an operand: whether it is an internal value of the instruction, and its number or key."""
        kind, name = value
        if kind is _INTERNAL:
            self.ints[place] = 1
            self.ints[place + 1] = int(name)
        else:
            self.ints[place + 1] = KEYS.number(value)
            self._note_key(slots, place + 1)

    cdef int _note_key(self, dict slots, int place) except -1:
        """Note that there is a register or flag at this place, if there is one."""
        cdef int key = self.ints[place]
        if key != NO_KEY:
            self.key_places[self.key_count].place = place
            self.key_places[self.key_count].slot = slots.setdefault(key, len(slots))
            self.key_count += 1

    cdef int _fill_uop(self, BlockUop *row, object uop) except -1:
        """Set all members of a uop but its place within the instruction."""
        template = self.template
        memset(row, 0, sizeof(BlockUop))
        row.kind = uop.kind
        row.port_mask = uop.units.mask
        row.divider = uop.divider_cycles
        row.in_count = len(uop.inputs)
        row.out_count = len(uop.outputs)
        row.base = row.index = row.scale = NO_KEY
        if template is None:
            return 0
        row.wide = "M256" in template.name
        row.result = _result(template) if row.kind == COMPUTE and row.out_count > 0 else NO_RESULT
        if uop.memory_operand < 0:
            return 0
        if uop.memory_operand >= len(template.memory_operands):
            raise ValueError(f"{template.name}: there is no memory operand {uop.memory_operand}")
        access = template.memory_operands[uop.memory_operand]
        row.has_address = 1
        row.base, row.index = KEYS.register(access.base), KEYS.register(access.index)
        row.scale = NO_KEY if access.scale is None else access.scale
        row.displacement = _in_32_bits(access.displacement or 0)
        row.bytes = access_bytes(template, access)
        if access.implicit_stack:
            row.stack_offset = min(0, template.rsp_change)
        row.pointer_chasing = row.kind == LOAD and _may_chase(row.base, row.displacement)


cdef int _result(object template) except -1:
    """Where the results of an instruction's uops go, if they come from registers of the same kind."""
    kinds = {each.width > 0 for each in (*template.register_inputs, *template.register_outputs)}
    if kinds == {False}:
        return VECTOR_RESULT
    return INTEGER_RESULT if kinds == {True} else NO_RESULT


@cython.final
cdef class FlatUop(FlatOriginal):
    """A uop outside any instruction: stack synchronisation or register merge. Only the members that give the
    sizes of the rest are set."""

    def __init__(self, uop):
        cdef Instruction head
        self.template = None
        self._names = b""
        memset(&head, 0, sizeof(head))
        head.idq_count = head.uop_count = head.fused_count = 1
        head.operands_count = len(uop.inputs)
        head.results_count = len(uop.outputs)
        head.move_source = head.move_target = head.symbol_source = NO_KEY
        head.offset_key0 = head.offset_key1 = NO_KEY
        self._lay(&head, [], (), (1,), (1,), (uop,))


cdef bint _may_chase(int base, int displacement) noexcept nogil:
    """Whether the address of a load may be a loaded pointer (uiCA model, 3.11.3)."""
    return base >= 0 and 0 <= displacement <= _MAX_POINTER_CHASING_DISPLACEMENT


cdef int _in_32_bits(long long displacement) noexcept nogil:
    """The displacement itself. The 64-bit address of a MOV is hashed, because only equality matters."""
    if -0x80000000 <= displacement <= 0x7FFFFFFF:
        return displacement
    return (displacement ^ displacement >> 32) & 0x7FFFFFFF


cdef bint _needs_extra_slot(object template, object immediate) except -1:
    """Whether the immediate takes a second DSB slot (K1)."""
    if template.facts is None:
        return False
    return not -(1 << 31) <= immediate < 1 << 31 or (
        not -(1 << 15) <= immediate < 1 << 15 and bool(template.address_inputs)
    )
