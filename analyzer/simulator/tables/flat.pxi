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
_HIGH8 = ("AH", "BH", "CH", "DH")

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
    cdef int[::1] ints
    # Indices of registers and flags in the integers, except the merges, which siblings share.
    cdef int[::1] key_places
    cdef bytes keys  # Registers and flags, each once.
    cdef int[::1] slots  # Number of the register or flag at each of these indices.
    cdef int[::1] _named  # Index of the name that siblings replace; -1 for none.
    cdef int[::1] addresses  # For every uop with a known address: where it begins, ...
    cdef int[::1] loads  # ... whether it loads, ...
    cdef int[::1] encoded  # ... and whether the instruction encodes scale and displacement.
    cdef bint chases  # Whether the address of a load decides if it may chase a pointer.

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
        self.stores = STORE_ADDRESS in [uop.kind for uop in template.uops]
        self._lay(&head, written, template.merge_uops, template.idq_uops, template.fused_uops, template.uops)

    cdef bytes _renamed_keys(self, object names):
        """Registers and flags, each once, of a sibling with these names."""
        new = [KEYS.register(name) for name in names]
        keys, named = self.keys, self._named
        return bytes([keys[i] if named[i] < 0 else new[named[i]] for i in range(len(keys))])

    cdef tuple without_names(self, int[::1] ints):
        """The integers of this instruction or a sibling as bytes, without addresses, with classes instead of
        registers and flags, and with marks for equal ones. The second value also omits what only predecoder
        and decoders need."""
        cdef BlockUop *uop
        cdef Instruction *head = <Instruction *> &ints[0]
        slots, classes = bytes(self.slots), KEYS.classes
        for place in range(len(self.key_places)):
            ints[self.key_places[place]] = _NAMELESS + <int> classes[self.keys[self.slots[place]]]
        for place in range(len(self.addresses)):
            uop = <BlockUop *> &ints[self.addresses[place]]
            uop.scale = uop.displacement = 0
        decoded = bytes(ints) + slots
        # ``Layout.key`` contains these where they matter.
        head.length = head.opcode = head.lcp = head.fusible = head.complex_decoder = head.simple_decoders = 0
        return decoded, bytes(ints) + slots

    cdef int _lay(
        self, Instruction *head, list written, object merged, object idq_uops, object fused_uops, object uops
    ) except -1:
        """Set the integers, and note where they hold registers, flags and addresses."""
        cdef BlockUop row
        cdef list ints = [(<int *> head)[place] for place in range(_INSTRUCTION_INTS)]
        cdef list addresses = []
        cdef list loads = []
        cdef list encoded = []
        cdef list places = [
            &head.move_source - <int *> head,
            &head.move_target - <int *> head,
            &head.symbol_source - <int *> head,
            &head.offset_key0 - <int *> head,
            &head.offset_key1 - <int *> head,
            *range(_INSTRUCTION_INTS, _INSTRUCTION_INTS + len(written)),
        ]
        ints += map(KEYS.register, written)
        ints += map(KEYS.register, merged)
        ints += idq_uops
        ints += fused_uops
        self.chases = False
        for position, uop in enumerate(uops):
            self._fill_uop(&row, uop)
            row.first = position == 0
            row.last = position + 1 == len(uops)
            start = len(ints)
            places += (start + (&row.base - <int *> &row), start + (&row.index - <int *> &row))
            if row.has_address:
                access = self.template.memory_operands[uop.memory_operand]
                addresses.append(start)
                loads.append(row.kind == LOAD)
                encodes = _is_encoded(self.template, access)
                encoded.append(encodes)
                self.chases = self.chases or (row.kind == LOAD and encodes and row.base >= 0)
            ints += [(<int *> &row)[place] for place in range(_UOP_INTS)]
        for value in [value for uop in uops for value in uop.inputs]:
            self._lay_value(ints, places, value)
        for value, latency in [result for uop in uops for result in uop.outputs]:
            self._lay_value(ints, places, value)
            ints.append(latency)
        self.ints = column(ints)
        check_row(self.ints, "a uop between instructions" if self.template is None else self.template.name)
        self.key_places = column([place for place in places if ints[place] != NO_KEY])
        found = [self.ints[place] for place in self.key_places]
        self.keys = bytes(dict.fromkeys(found))
        self.slots = column([self.keys.index(key) for key in found])
        self._named = column([self._names.find(key) for key in self.keys])
        self.addresses = column(addresses)
        self.loads = column(loads)
        self.encoded = column(encoded)

    cdef int _lay_value(self, list ints, list places, tuple value) except -1:
        """Append an operand: whether it is an internal value of the instruction, and its number or key."""
        kind, name = value
        internal = kind is _INTERNAL
        if not internal:
            places.append(len(ints) + 1)
        ints += (internal, int(name) if internal else KEYS.number(value))

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
        if access.implicit_stack and access.written:
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


@cython.final
cdef class FlatInstruction:
    """An instruction of a block as integers: the part shared with its siblings, and its own part."""

    cdef readonly FlatOriginal like
    cdef readonly object instruction
    cdef object macro_row  # The values that cores that count macro-ops need (``Operations``).
    cdef object maker
    cdef bytes kinds  # The part of it that alike blocks share, and the ``CanonicalKeys`` that computed it.
    cdef bytes keys
    cdef long long symbol_delta
    cdef object encoding
    cdef bint _differs  # Whether it is another instruction than that of ``like``.
    cdef int _length
    cdef int _opcode
    cdef bint _lcp
    cdef bint _extra_slot
    cdef int _added
    cdef int _scale
    cdef int _displacement
    # The constant by which its result differs from the value that it continues, and its addresses.
    cdef tuple numbers
    cdef tuple _value  # See ``value``; None before it is asked for.

    def __init__(self, FlatOriginal original, instruction, names):
        """``names``: the registers that replace those that ``original`` was made with."""
        self.like = original
        self.instruction = instruction
        self.macro_row = None
        self.maker = None
        self.kinds = b""
        self.keys = self.like._renamed_keys(names) if names else self.like.keys
        self.symbol_delta = symbol_delta(self.like.symbol_sign, instruction) if self.like.symbol_sign else 0
        self.encoding = instruction.encoding
        self._differs = instruction is not self.like.instruction
        immediate = instruction.immediate
        self._length = len(instruction.code)
        self._opcode = self.encoding.opcode_offset
        self._lcp = instruction.has_length_changing_prefix
        self._extra_slot = immediate is not None and _needs_extra_slot(self.like.template, immediate)
        self._added = added_constant(instruction) or 0 if self.like.adds else 0
        self._scale = instruction.scale
        self._displacement = _in_32_bits(instruction.displacement)
        cdef BlockUop *uop
        numbers = [self.symbol_delta]
        for place in range(len(self.like.addresses)):
            if self.like.encoded[place]:
                numbers += (self._scale, self._displacement)
            else:
                uop = <BlockUop *> &self.like.ints[self.like.addresses[place]]
                numbers += (uop.scale, uop.displacement)
        self.numbers = tuple(numbers)
        self._value = None

    cdef void lay(self, int *ints) noexcept:
        """Write its integers; there must be room for as many as ``like`` has."""
        memcpy(ints, &self.like.ints[0], self.like.ints.shape[0] * sizeof(int))
        if self._differs:
            self._lay_own(ints)

    cdef void _lay_own(self, int *ints) noexcept:
        """Overwrite the names and numbers of ``like`` by its own."""
        cdef BlockUop *uop
        cdef Instruction *head = <Instruction *> ints
        cdef const unsigned char *keys = self.keys
        if self.encoding is not self.like.encoding:
            head.length = self._length
            head.opcode = self._opcode
            head.lcp = self._lcp
        head.extra_slot = self._extra_slot
        if self.like.adds:
            head.added = self._added
        for place in range(self.like.key_places.shape[0]):
            ints[self.like.key_places[place]] = keys[self.like.slots[place]]
        for place in range(self.like.addresses.shape[0]):
            uop = <BlockUop *> &ints[self.like.addresses[place]]
            if self.like.encoded[place]:
                uop.scale = self._scale
                uop.displacement = self._displacement
            uop.pointer_chasing = self.like.loads[place] and _may_chase(uop.base, uop.displacement)

    cdef int[::1] integers(self):
        """Its integers as a new array."""
        cdef int[::1] own = ints(self.like.ints.shape[0])
        self.lay(&own[0])
        return own

    cdef list output_keys(self):
        """Keys of its register outputs."""
        cdef int[::1] own = self.integers()
        cdef Instruction *head = <Instruction *> &own[0]
        return [own[_INSTRUCTION_INTS + place] for place in range(head.outputs_count)]

    cdef object kind(self):
        """Everything in which siblings' rows differ, except names and addresses."""
        chases = self.like.chases and 0 <= self._displacement <= _MAX_POINTER_CHASING_DISPLACEMENT
        return (self.like, self.encoding, chases, self._extra_slot, self._added)

    cdef tuple value(self):
        """Composition of the only register result: kind, keys of base and index, scale and constant."""
        if self._value is None:
            rule = value_rule(self.like.template, self.instruction)
            base, index = KEYS.register(rule.base), KEYS.register(rule.index)
            self._value = (rule.kind, base, index, rule.scale, rule.delta)
        return self._value


cdef FlatInstruction flatten(object entry):
    """The rows of an instruction of a block. Entries of built blocks keep theirs; those of a template that
    was changed are created anew. Raises ValueError for numbers out of range."""
    cdef FlatInstruction flat, like
    flat = getattr(entry, "flat", None)
    if flat is not None:
        return flat
    if isinstance(entry, Sibling):
        original = entry.original
        names = () if entry.names == original.names else entry.names
        like = original.flat or flatten(original)
        flat = entry.flat = FlatInstruction(like.like, entry.instruction, names)
        return flat
    if isinstance(entry, Original):
        made = _original(entry.template(), entry.names)
        flat = entry.flat = FlatInstruction(made, entry.instruction, ())
        return flat
    return FlatInstruction(_original(entry.template(), ()), entry.instruction, ())


cdef FlatOriginal _original(object template, object names):
    try:
        return FlatOriginal(template, names)
    except OverflowError as error:
        raise ValueError(f"{template.name}: one of its numbers is too large ({error})") from None


def _is_encoded(template, access):
    """Whether the instruction encodes the whole address; the stack's address is not encoded."""
    operands = template.facts.operands if template.facts is not None else ()
    return access.scale is not None and any(o.name == access.name and not o.suppressed for o in operands)


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
