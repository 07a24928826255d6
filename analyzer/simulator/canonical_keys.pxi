# Finds blocks that simulate identically, so that their figure is computed once.
#
# The same code at two positions is alike if its front end says so (``FrontEnd.placement``). Different
# code may be alike too: cores that count uops distinguish registers only by class and latest writer.
# RSP is the exception, because the stack engine writes it. So blocks whose instructions have equal rows
# (``flat``) run alike if only the names of their registers differ. Addresses only decide which loads
# overlap which stores and, on some cores, which loads read one word: where neither can be, they do not count.
# Where the model follows values of registers, it also counts how each result is made of others (``value``),
# and which register is RBP, for it may point to the stack. In loops from the DSB, lengths count only as far
# as they decide which instructions share a line.

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
            self._names_only = microarchitecture.macro_ops is None
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
        if self._follows_values and (stores or (accesses and self._lines_matter)):
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
        """Addresses of the block's instructions, how their results are made of registers, and which of them is
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

    cdef int tell(self, FlatInstruction flat) except -1:
        """Set the kinds of an instruction."""
        flat.maker = self
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
            key = (cached, rows, flat.like.tp_name)
            if key not in self._kinds:
                # Numbers are not reused: instructions keep theirs.
                self._kinds[key] = next(self._numbers)
            numbers.append(self._kinds[key])
        kinds = self._known[kind] = array("i", numbers).tobytes()
        return kinds


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
