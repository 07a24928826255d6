# The instructions of a block as integers: the part shared with siblings (``flat``), and their own.

@cython.final
cdef class FlatInstruction:
    """An instruction of a block as integers: the part shared with its siblings, and its own part."""

    cdef readonly FlatOriginal like
    cdef readonly object instruction
    cdef bytes effect  # Its effect on cores that count macro-ops (``find_macro_row``); None until asked for.
    cdef object maker
    cdef bytes kinds  # The part of it that alike blocks share, and the ``CanonicalKeys`` that computed it.
    cdef bytes keys
    cdef long long symbol_delta
    cdef object encoding
    cdef bint _differs  # Whether it is another instruction than that of ``like``, ...
    cdef bint _reencoded  # ... with another encoding.
    cdef int _length
    cdef int _opcode
    cdef bint _lcp
    cdef bint _extra_slot
    cdef int _added
    cdef int _scale
    cdef int _displacement
    cdef tuple _numbers  # See ``numbers``; None before it is asked for.
    cdef tuple _value  # See ``value``; None before it is asked for.

    def __init__(self, FlatOriginal original, instruction, names):
        """``names``: the registers that replace those that ``original`` was made with."""
        self.like = original
        self.instruction = instruction
        self.maker = None
        self.kinds = b""
        self.keys = original._renamed_keys(names) if names else original.keys
        self.symbol_delta = symbol_delta(original.symbol_sign, instruction) if original.symbol_sign else 0
        self.encoding = instruction.encoding
        self._differs = instruction is not original.instruction
        self._reencoded = self.encoding is not original.encoding
        if self._reencoded:
            self._length = len(instruction.code)
            self._opcode = self.encoding.opcode_offset
            self._lcp = instruction.has_length_changing_prefix
        immediate = instruction.immediate
        self._extra_slot = immediate is not None and _needs_extra_slot(original.template, immediate)
        self._added = added_constant(instruction) or 0 if original.adds else 0
        self._scale = instruction.scale
        self._displacement = _in_32_bits(instruction.displacement)

    cdef tuple numbers(self):
        """The constant by which its result differs from the value that it continues, and its addresses."""
        cdef BlockUop *uop
        if self._numbers is None:
            numbers = [self.symbol_delta]
            for number in range(self.like.address_count):
                if self.like.addresses[number].encoded:
                    numbers += (self._scale, self._displacement)
                else:
                    uop = <BlockUop *> (self.like.ints + self.like.addresses[number].start)
                    numbers += (uop.scale, uop.displacement)
            self._numbers = tuple(numbers)
        return self._numbers

    cdef void lay(self, int *ints) noexcept:
        """Write its integers; there must be room for as many as ``like`` has."""
        memcpy(ints, self.like.ints, self.like.length * sizeof(int))
        if self._differs:
            self._lay_own(ints)

    cdef void _lay_own(self, int *ints) noexcept:
        """Overwrite the names and numbers of ``like`` by its own."""
        cdef BlockUop *uop
        cdef Instruction *head = <Instruction *> ints
        cdef const unsigned char *keys = self.keys
        if self._reencoded:
            head.length = self._length
            head.opcode = self._opcode
            head.lcp = self._lcp
        head.extra_slot = self._extra_slot
        if self.like.adds:
            head.added = self._added
        for number in range(self.like.key_count):
            ints[self.like.key_places[number].place] = keys[self.like.key_places[number].slot]
        for number in range(self.like.address_count):
            uop = <BlockUop *> (ints + self.like.addresses[number].start)
            if self.like.addresses[number].encoded:
                uop.scale = self._scale
                uop.displacement = self._displacement
            loads = self.like.addresses[number].loads != 0
            uop.pointer_chasing = loads and _may_chase(uop.base, uop.displacement)

    cdef int[::1] integers(self):
        """Its integers as a new array."""
        cdef int[::1] own = ints(self.like.length)
        self.lay(&own[0])
        return own

    cdef list output_keys(self):
        """Keys of its register outputs, which lie behind its ``Instruction``."""
        cdef Instruction *head = <Instruction *> self.like.ints
        return [
            self.keys[self.like.key_places[number].slot]
            for number in range(self.like.key_count)
            if 0 <= self.like.key_places[number].place - _INSTRUCTION_INTS < head.outputs_count
        ]

    cdef list base_keys(self):
        """The bases of its addresses; NO_KEY for none."""
        keys = []
        for number in range(self.like.address_count):
            slot = self.like.addresses[number].base
            keys.append(NO_KEY if slot == NONE else self.keys[slot])
        return keys

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
    except (OverflowError, TypeError) as error:
        raise ValueError(f"{template.name}: one of its values is no number that fits ({error})") from None
