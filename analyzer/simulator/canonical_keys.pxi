# Finds blocks that simulate identically, so that their figure is computed once.
#
# The same code at two positions is alike if its front end says so (``FrontEnd.placement``). Different
# code may be alike too: cores before Alder Lake distinguish registers only by class and latest writer.
# RSP is the exception, because the stack engine writes it. So blocks whose instructions have equal rows
# (``flat``) run alike if only the names of their registers differ. Addresses only decide which loads
# overlap which stores, so without a store they do not count. In loops from the DSB, lengths count only as
# far as they decide which instructions share a line.

cdef enum:
    _MOST_FIGURES = 1 << 15  # Limit for kinds of instructions, and for figures.

_RSP = KEYS.register("RSP")
cdef enum:
    _MOST_KEYS = 256

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
    # Whether blocks with stores are never alike, because the model follows values.
    cdef bint _stores_differ
    cdef dict _kinds
    cdef dict _known  # Kinds by the siblings' own values, which are faster to look up.
    cdef object _numbers
    cdef int _block
    cdef int[::1] _met  # By register or flag: the latest block that uses it, ...
    cdef int[::1] _places  # ... and how many other registers that block had used before.
    cdef dict figures

    def __init__(self, _caches):
        self._core = None
        self._options = None
        self._names_only = False
        self._place_unknown = False
        self._place = NONE
        self._several_places = False
        self._stores_differ = False
        self._kinds = {}
        self._known = {}
        self._numbers = count()
        self._block = 0
        self._met = ints(_MOST_KEYS)
        self._places = ints(_MOST_KEYS)
        self.figures = {}

    cdef object key(self, block, microarchitecture, options):
        """Everything that the block's figure depends on: its code, or less if registers and addresses are
        only names. Empty if no block can be alike; by code none can before blocks lie at several
        positions."""
        if microarchitecture is not self._core or options is not self._options:
            self._core, self._options = microarchitecture, options
            self._names_only = not (microarchitecture.macro_ops or microarchitecture.tracks_values)
            self._stores_differ = options.hardware
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
        cdef list kinds, registers
        cdef bint stores
        cdef int met, key
        cdef FlatInstruction flat
        kinds = []
        registers = []
        stores = False
        met = 1
        self._block += 1
        self._met[_RSP] = self._block  # always the first
        self._places[_RSP] = 0
        for entry in block.entries:
            flat = flatten(entry)
            if flat.maker is not self:
                self.tell(flat)
            if not flat.kinds:
                return ()
            kinds.append(flat.kinds)
            keys = flat.keys
            for position in range(len(keys)):
                key = keys[position]
                if self._met[key] != self._block:
                    self._met[key] = self._block
                    self._places[key] = met
                    met += 1
                registers.append(self._places[key])
            stores = stores or flat.like.stores
        if stores and self._stores_differ:
            return ()
        others = _numbers_of(block) if stores else ()
        return (block.loop, block.alignment, b"".join(kinds), bytes(registers), others)

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


cdef tuple _numbers_of(object block):
    """Constants and addresses of the block's instructions."""
    return tuple([flatten(entry).numbers() for entry in block.entries])


def _key_of_code(block):
    return (block.loop, block.alignment, b"".join([entry.instruction.code for entry in block.entries]))


def loop_key(tuple key, bytes placement):
    """The key of a loop whose placement is known (``FrontEnd.placement``): more loops are alike."""
    _, _, kinds, *others = key
    if not others:
        return (placement, kinds)
    return (placement, array("i", kinds)[1::2].tobytes(), *others)
