# Finds blocks that simulate identically, so that their figure is computed once.
#
# The same code at two positions is alike if its front end says so (``FrontEnd.placement``). Different
# code may be alike too: the cores distinguish registers only by class and latest writer.
# RSP is the exception, because the stack engine writes it. So blocks whose instructions have equal rows
# (``flat``) run alike if only the names of their registers differ. Addresses only decide which loads
# overlap which stores and, on some cores, which loads read one word: where neither can be, they do not count.
# Where the model follows values of registers, it also counts how each result is made of others (``value``),
# and which register is RBP, for it may point to the stack. On cores that count macro-ops blocks without
# stores may be alike, and of addresses only which accesses cross a line counts. In loops from the DSB or the
# op cache, lengths count only as far as they decide which instructions share a line or a window.

cdef enum:
    _MOST_FIGURES = 1 << 15  # Limit for kinds of instructions, and for figures.

_RSP = KEYS.register("RSP")
_RBP = KEYS.register("RBP")
cdef enum:
    _MOST_KEYS = 256
    _MOST_FOLLOWED = 1 << 20  # Limit for constants of which only the offset in a line counts.

_NAMED = b""  # Replaces the kinds on cores where register names matter.


@cython.final
cdef class CanonicalKeys:
    """Figures of one core with one set of options, by what its runs depend on."""

    cdef object _core
    cdef object _options
    cdef bint _counts_macro_ops
    cdef bint _names_only
    # Whether the front end does not say what its runs depend on, or runs are random.
    cdef bint _place_unknown
    cdef int _place  # Position of the first block, ...
    cdef bint _several_places  # ... and whether other blocks lay elsewhere.
    cdef bint _follows_values  # Whether the model follows the values of registers, where addresses count.
    cdef bint _lines_matter
    cdef bint _pointers_differ
    cdef dict _kinds
    cdef dict _known  # Kinds by the siblings' own values, which are faster to look up.
    cdef object _numbers
    cdef int _block
    cdef int[::1] _met  # By register or flag: the latest block that uses it, ...
    cdef int[::1] _places  # ... and how many other registers that block had used before.
    cdef int _count  # Registers and flags that the block uses.
    cdef dict figures

    def __init__(self, _caches):
        self._core = None
        self._options = None
        self._counts_macro_ops = False
        self._names_only = False
        self._place_unknown = False
        self._place = NONE
        self._several_places = False
        self._follows_values = False
        self._lines_matter = False
        self._pointers_differ = False
        self._kinds = {}
        self._known = {}
        self._numbers = count()
        self._block = 0
        self._met = ints(_MOST_KEYS)
        self._places = ints(_MOST_KEYS)
        self._count = 0
        self.figures = {}

    cdef object key(self, block, microarchitecture, options):
        """Everything that the block's figure depends on: its code, or less if registers and addresses are
        only names. Empty if no block can be alike; by code none can before blocks lie at several
        positions."""
        if microarchitecture is not self._core or options is not self._options:
            self._core, self._options = microarchitecture, options
            self._counts_macro_ops = microarchitecture.macro_ops is not None
            self._names_only = options.harness is not MeasuredIn.ONE_PAGE
            self._follows_values = options.hardware or microarchitecture.tracks_values
            self._lines_matter = lines_matter(microarchitecture)
            self._pointers_differ = options.assume is Pointers.DIFFERENT
            self._place_unknown = options.simple_front_end or options.port_seed is not None
            self._place = NONE
            self._several_places = False
            self.figures.clear()
        if self._place_unknown:
            return ()
        if len(self.figures) >= _MOST_FIGURES:
            self.figures.clear()
        key = self._key(block) if self._names_only else ()
        if self._place == NONE:
            self._place = block.alignment
        self._several_places = self._several_places or block.alignment != self._place
        return key or (_key_of_code(block) if self._several_places else ())

    cdef object _key(self, object block):
        cdef list kinds, registers, flats
        cdef bint stores, accesses, simple
        cdef FlatInstruction flat
        kinds = []
        registers = []
        flats = []
        stores = accesses = False
        simple = True
        self._block += 1
        self._count = 0
        self._place_of(_RSP)  # always the first
        for entry in block.entries:
            flat = flatten(entry)
            if self._counts_macro_ops and (flat.like.stores or flat.like.jumps or not flat.like.simple):
                return ()
            if flat.maker is not self:
                self.tell(flat)
            if not flat.kinds:
                return ()
            kinds.append(flat.kinds)
            flats.append(flat)
            keys = flat.keys
            for position in range(len(keys)):
                registers.append(self._place_of(keys[position]))
            stores = stores or flat.like.stores
            accesses = accesses or flat.like.address_count > 0
            simple = simple and flat.like.simple
        others = ()
        if self._counts_macro_ops:
            others = self._crossings_of(flats)
            if others is None:
                return ()
        elif self._follows_values and (stores or (accesses and self._lines_matter)):
            if not simple:
                return ()
            others = self._values_of(flats, stores)
        elif stores:
            others = _numbers_of(flats)
        return (block.loop, block.alignment, b"".join(kinds), bytes(registers), others)

    cdef int _place_of(self, int key):
        """How many other registers the block had used before this one; NO_KEY for none."""
        if key == NO_KEY:
            return NO_KEY
        if self._met[key] != self._block:
            self._met[key] = self._block
            self._places[key] = self._count
            self._count += 1
        return self._places[key]

    cdef tuple _values_of(self, list flats, bint stores):
        """Addresses of the block's instructions, how their results are made of registers, and which one is
        RBP. Without a store only the words that loads read within a line count and, if nothing leads from one
        register of an address to another, only the distances from the first such word of each register."""
        cdef FlatInstruction flat
        cdef list values = []
        cdef dict first = {}
        cdef bint apart = not stores and self._pointers_differ and _are_apart(flats)
        for flat in flats:
            kind, base, index, scale, delta = flat.value()
            places = flat.numbers()[2::2]
            if apart:
                registers = flat.base_keys()
                places = [place - first.setdefault(key, place & ~3) for place, key in zip(places, registers)]
            if not stores:
                places = [place & (CODE_LINE - 1) for place in places]
                delta = _in_line(delta)
            values += (*places, kind, self._place_of(base), self._place_of(index), scale, delta)
        return (self._place_of(_RBP), *values)

    cdef tuple _crossings_of(self, list flats):
        """Which registers the moves of pairs copy, and which accesses cross the end of a line. If constants
        move the register of an address, its offsets in a line count; None if it is written otherwise."""
        cdef FlatInstruction flat
        cdef BlockUop *uop
        cdef const long long *effect
        cdef list values = []
        cdef set bases = set()
        cdef set moved = set()
        for flat in flats:
            bases.update(flat.base_keys())
        for flat in flats:
            effect = <const long long *> <const char *> flat.effect
            if (<Instruction *> flat.like.ints).rsp_step:
                moved.add(<int> _RSP)
            if (<const int *> <const char *> flat.like.costs)[_MOVES]:
                values += (self._place_of(effect[1]), self._place_of(effect[2]))
            for place in range(12, 16):
                if effect[place] != NO_KEY and effect[place] in bases:
                    return None
            if effect[1] != NO_KEY and effect[1] in bases:
                if not _is_step(effect):
                    return None
                moved.add(effect[1])
                values += (effect[6], effect[5] & (CODE_LINE - 1))
        for flat in flats:
            for number, (key, place) in enumerate(zip(flat.base_keys(), flat.numbers()[2::2], strict=True)):
                uop = <BlockUop *> (flat.like.ints + flat.like.addresses[number].start)
                offset = (<long long> place + uop.stack_offset) & (CODE_LINE - 1)
                values.append(offset if key in moved else offset + uop.bytes > CODE_LINE)
        return tuple(values)

    cdef int tell(self, FlatInstruction flat) except -1:
        """Set the kinds of an instruction."""
        flat.maker = self
        if self._counts_macro_ops and flat.effect is None:
            find_macro_row(flat)
        if flat.like.merges:
            flat.kinds = _NAMED
        else:
            kind = flat.kind()
            flat.kinds = self._known.get(kind) or self._kinds_of(kind, flat)

    cdef bytes _kinds_of(self, tuple kind, FlatInstruction flat):
        """Two numbers: one is the same for instructions that differ only in registers and addresses, the
        other also for those that differ in what predecoder and decoders see."""
        if len(self._known) >= _MOST_FIGURES:
            self._known.clear()
            self._kinds.clear()
        numbers = []
        own = flat.integers()
        for cached, rows in enumerate(flat.like.without_names(&own[0])):
            key = (cached, rows, flat.like.tp_name, flat.like.costs)
            if key not in self._kinds:
                # Numbers are not reused: instructions keep theirs.
                self._kinds[key] = next(self._numbers)
            numbers.append(self._kinds[key])
        kinds = self._known[kind] = array("i", numbers).tobytes()
        return kinds


cdef bint _is_step(const long long *effect) noexcept:
    """Whether an effect (``find_macro_row``) adds a constant to a register, or subtracts one."""
    return (
        effect[0] == EFFECT_OPERATE
        and effect[6] <= OPERATION_SUB
        and effect[2] == NO_KEY
        and effect[9] < 0
        and effect[7] >= 32
    )


cdef bint _are_apart(list flats):
    """Whether each register of an address is only moved by constants, or set to an unknown value."""
    cdef FlatInstruction flat
    cdef set bases = set()
    for flat in flats:
        bases.update(flat.base_keys())
    for flat in flats:
        kind, base, index, _, _ = flat.value()
        if kind == SUM:
            written = flat.output_keys()
            if (index != NO_KEY or base not in written) and not bases.isdisjoint(written):
                return False
    return True


cdef long long _in_line(long long number):
    """The number modulo the length of a line; larger ones could sum up to another register's address."""
    return number & (CODE_LINE - 1) if -_MOST_FOLLOWED < number < _MOST_FOLLOWED else number


cdef tuple _numbers_of(list flats):
    """Constants and addresses of the block's instructions."""
    cdef FlatInstruction flat
    numbers = []
    for flat in flats:
        numbers.append(flat.numbers())
    return tuple(numbers)


def _key_of_code(block):
    return (block.loop, block.alignment, b"".join([entry.instruction.code for entry in block.entries]))


def loop_key(tuple key, bytes placement):
    """The key of a loop whose placement is known (``FrontEnd.placement``): more loops are alike."""
    _, _, kinds, *others = key
    if not others:
        return (placement, kinds)
    return (placement, array("i", kinds)[1::2].tobytes(), *others)
