# Decides which accesses are known to touch the same memory, from symbolic register values and from the
# stores by address (uiCA model, chapter 4).

# Distance between origins, so that origin plus offset is one integer.
cdef long long _ORIGIN = 4398046511104  # 1 << _ORIGIN_BITS
cdef long long _HALF_ORIGIN = 2199023255552
cdef enum:
    _FIRST_FREE = 4

cdef long long _NO_SYMBOL = -4611686018427387904

cdef long long _FARTHEST = 2147483648  # Largest distance in bytes from the instruction pointer.
cdef enum:
    _FILL = 305419776  # The constant in every register and memory word of the BHive profiler.
    # Value of all registers if they are assumed equal and values are tracked: the constant of the
    # harness by which newer cores were measured. It is page-aligned.
    _EQUAL = 36847616
    _WORD_BITS = 2  # Words have four bytes.
    _ORIGIN_BITS = 42
    _ORIGINS = 1 << 14
    _IN_CACHE = 16  # Cycles after which a store that has left the store buffer no longer affects any load.


@cython.final
cdef class Memory:
    """Symbolic values by rename key, and the store buffer by address. Two accesses overlap if base, index,
    scale and displacement agree.

    With ``exact_memory`` they overlap if they share a byte. Base and displacement are then one sum, which
    includes an index of known value.
    """

    cdef bint _lines_matter
    cdef Tables tables
    cdef Program program
    cdef bint _one_page
    cdef bint _all_different
    cdef bint _all_equal
    cdef bint _all_words_equal
    cdef long long _word
    cdef bint _stack_apart
    cdef long long[::1] _seen_symbol
    cdef long long[::1] symbol
    cdef bint _from_store  # Whether the latest load looked up reads data of a store in flight.
    # Whether the latest load looked up overlaps a store that it cannot forward from.
    cdef int blocked
    cdef long long ahead  # Bytes from the first byte of that store to the first byte of the load.
    # Stores before this one finished long ago; forwarding from them changes nothing.
    cdef int first_live
    cdef int _seen
    cdef long long _origins
    cdef long long _base
    cdef long long _index
    cdef int _scale
    cdef int _displacement

    def __init__(self, Tables tables, pointers, lines_matter):
        program = tables.program
        self._lines_matter = lines_matter
        self.tables = tables
        self.program = program
        self._one_page = pointers is Pointers.BHIVE
        self._all_different = pointers is Pointers.DIFFERENT
        self._all_equal = pointers is Pointers.SAME
        self._all_words_equal = pointers in (Pointers.BHIVE, Pointers.SAME)
        self._word = _FILL if pointers is Pointers.BHIVE else _EQUAL
        self._stack_apart = pointers in (Pointers.STACK, Pointers.BHIVE)
        self._seen_symbol = longs(64)
        self.symbol = longs(64)

    cdef int start(self) except -1:
        """Reset: no stores yet, and registers point where the policy says."""
        self._from_store = False
        self.blocked = 0
        self.ahead = 0
        self.first_live = 0
        self._seen = 0
        if self.program.keys > len(self.symbol):
            self.symbol = longs(2 * self.program.keys)
        self._origins = _FIRST_FREE
        for key in range(self.program.keys):
            if self._all_different:
                self.symbol[key] = self._new_origin()
            elif self._stack_apart and key == self.program.rsp:
                self.symbol[key] = 2 * _ORIGIN
            elif self._stack_apart and key == self.program.rbp:
                self.symbol[key] = 3 * _ORIGIN
            elif self._one_page:
                self.symbol[key] = _FILL
            elif self._all_equal and self.program.exact_values:
                self.symbol[key] = _EQUAL
            else:
                self.symbol[key] = _ORIGIN
        # The address looked up last.
        self._base = 0
        self._index = 0
        self._scale = 0
        self._displacement = 0

    cdef long long _new_origin(self) noexcept nogil:
        self._origins += 1
        return _ORIGIN * self._origins

    cdef void _look_at(self, int static_uop) noexcept nogil:
        """Look up the address of a uop's access with the current register values (4.1)."""
        cdef BlockUop *block_uop = &self.program.uop[static_uop]
        self._base = 0
        self._index = 0
        self._scale = block_uop.scale
        self._displacement = block_uop.displacement
        if block_uop.base >= 0:
            self._base = self.symbol[block_uop.base]
        if block_uop.index >= 0:
            self._index = self.symbol[block_uop.index]
        if self.program.exact_values:
            self._base += self._displacement + block_uop.stack_offset
            self._displacement = 0
            if self._is_number(self._index):
                self._base += self._index * self._scale
                self._index = 0
                self._scale = 0
            if self._one_page and self._is_number(self._base):
                self._base = self._base & (PAGE - 1)

    cdef bint _is_number(self, long long symbol) noexcept nogil:
        """Whether a value has no unknown part."""
        return -_HALF_ORIGIN < symbol < _HALF_ORIGIN

    cdef int open_store(self, int static_uop) noexcept nogil:
        """A store address is renamed: create a store-buffer entry, the newest under its address (W2)."""
        cdef StoreEntry *store
        self._look_at(static_uop)
        place = self.tables.new_store()
        store = &self.tables.store[place]
        store.base = self._base
        store.index = self._index
        store.scale = self._scale
        store.displacement = self._displacement
        store.bytes = self.program.uop[static_uop].bytes
        return place

    cdef int newest_store(self, int static_uop, int cycle) noexcept nogil:
        """The entry that a load forwards from; NONE if no store in flight affects it (W3)."""
        self.blocked = 0
        self.ahead = 0
        self._from_store = False
        while self.first_live < self.tables.stores and self._finished(self.first_live, cycle):
            self.first_live += 1
        if self.first_live == self.tables.stores:
            return NONE
        self._look_at(static_uop)
        if self.program.exact_memory:
            return self._newest_overlapping(self.program.uop[static_uop].bytes)
        store = self.tables.stores - 1
        while store >= self.first_live:
            if (
                self.tables.store[store].base == self._base
                and self.tables.store[store].displacement == self._displacement
                and self.tables.store[store].index == self._index
                and self.tables.store[store].scale == self._scale
            ):
                self._from_store = True
                return store
            store -= 1
        return NONE

    cdef int words(self, int static_uop) noexcept nogil:
        """Mask of the ``LINE_WORDS`` words of four bytes in a line that an access touches. The bits above
        identify the unknown part of the address, as far as it is known; 0 if the address is a number. For
        the instruction pointer that is a page, because the offset of a symbol in its line is not known."""
        cdef BlockUop *block_uop = &self.program.uop[static_uop]
        cdef long long distance
        self._look_at(static_uop)
        address = self._base + self._index * self._scale
        # Addresses below 0 wrap around: a remainder of C would be negative.
        origin = 0 if self._is_number(address) else (address + _HALF_ORIGIN >> _ORIGIN_BITS) & (_ORIGINS - 1)
        if block_uop.base == self.program.rip:
            distance = block_uop.displacement
            origin = (origin + (distance + _FARTHEST) // PAGE) % _ORIGINS
        first = (address >> _WORD_BITS) & (LINE_WORDS - 1)
        last = (address + max(block_uop.bytes, 1) - 1 >> _WORD_BITS) & (LINE_WORDS - 1)
        touched = (2 << last) - (1 << first)
        if last < first:  # crosses the end of the line
            touched += (1 << LINE_WORDS) - 1
        return origin << LINE_WORDS | touched

    cdef int _newest_overlapping(self, int size) noexcept nogil:
        """The newest store that shares a byte with the current load. The load can forward if that store
        wrote all of its bytes. Accesses of unknown size are compared by their first byte."""
        store = self.tables.stores - 1
        while store >= self.first_live:
            if (
                self.tables.store[store].index == self._index
                and self.tables.store[store].scale == self._scale
            ):
                ahead = self._base - self.tables.store[store].base
                stored = self.tables.store[store].bytes
                if ahead == 0 or -size < ahead < stored:
                    self._from_store = True
                    self.ahead = ahead
                    self.blocked = stored > 0 and (ahead < 0 or ahead + size > stored)
                    return store
            store -= 1
        return NONE

    cdef bint _finished(self, int place, int cycle) noexcept nogil:
        """Whether the store's data were ready before any load that is renamed now can need them."""
        cdef StoreEntry *store = &self.tables.store[place]
        if self.program.exact_memory:
            return UNKNOWN < store.left <= cycle - _IN_CACHE
        return (
            UNKNOWN < store.address <= cycle and UNKNOWN < store.data <= cycle
        )

    cdef int record(self, Record state, PairQueue in_flight) except -1 nogil:
        """Record this part of the pipeline's state. Of a symbolic value in an address only these matter:
        which other values have the same origin, its distance from them, and, if lines matter, its offset
        within the line. ``in_flight``: the uops of the reorder buffer."""
        cdef StoreEntry *store
        while self.first_live < self.tables.stores and self._finished(self.first_live, state.cycle):
            self.first_live += 1
        if not self.program.compares_addresses:
            return 0
        self._seen = 0
        for position in range(self.program.address_keys):
            self._record_symbol(state, self.symbol[self.program.address_key[position]])
        first = self.first_live
        if self._lines_matter:
            first = self._record_in_flight(state, in_flight)
        state.add(self.tables.stores - first)
        for place in range(first, self.tables.stores):
            store = &self.tables.store[place]
            self._record_symbol(state, store.base)
            self._record_symbol(state, store.index)
            state.add(store.scale)
            state.add(store.displacement)
            state.add_time(store.address, 0)
            state.add_time(store.data, 0)
            state.add(store.late)
            if self.program.exact_memory:
                state.add_time(store.left, _IN_CACHE)

    cdef int _record_in_flight(self, Record state, PairQueue in_flight) except? -1 nogil:
        """Record the words that waiting loads read. Returns the first store whose line still matters: one
        that has not retired, or that loads can overlap."""
        cdef Uop *uop
        first_store = self.first_live
        for position in range(in_flight.count):
            index = (in_flight.head + position) & in_flight.mask
            first = in_flight.firsts[index]
            for number in range(first, first + in_flight.seconds[index]):
                uop = &self.tables.uop[number]
                kind = self.program.uop[uop.static].kind
                if kind == STORE_DATA and uop.store < first_store:
                    first_store = uop.store
                if kind == LOAD and uop.dispatched == UNKNOWN:
                    state.add(uop.words & ((1 << LINE_WORDS) - 1))
                    state.add(self._number_of(_ORIGIN * (uop.words >> LINE_WORDS)))
        return first_store

    cdef int _record_symbol(self, Record state, long long symbol) except -1 nogil:
        if self._is_number(symbol):
            state.add(NONE)
            state.add(symbol & (PAGE - 1) if self._one_page else symbol)
            return 0
        seen = self._seen
        number = self._number_of(symbol)
        state.add(number)
        if number < seen:
            state.add(symbol - self._seen_symbol[number])
        elif self._lines_matter:
            state.add(symbol & (CODE_LINE - 1))

    cdef int _number_of(self, long long symbol) except? -1 nogil:
        """Number of a symbolic value's origin within this record."""
        number = 0
        while number < self._seen and abs(self._seen_symbol[number] - symbol) >= _HALF_ORIGIN:
            number += 1
        if number == self._seen:
            if number == len(self._seen_symbol):
                with gil:
                    self._seen_symbol = longer_longs(self._seen_symbol, 2 * number)
            self._seen_symbol[number] = symbol
            self._seen = number + 1
        return number

    cdef void copy(self, int source, int target) noexcept nogil:
        """An eliminated move copies the symbolic value."""
        self.symbol[target] = self.symbol[source]

    cdef long long continued(self, int i) noexcept nogil:
        """The symbolic value that an instruction's results continue, if they have no new origins (4.2)."""
        cdef Instruction *instruction = &self.program.instruction[i]
        if self.program.exact_values:
            return self._value(i)
        source = instruction.symbol_source
        if source < 0:
            return _NO_SYMBOL
        return self.symbol[source] + instruction.symbol_delta

    cdef long long _value(self, int i) noexcept nogil:
        """The value of an instruction's result, if it is known in terms of other values (``values``)."""
        cdef Instruction *instruction = &self.program.instruction[i]
        kind = instruction.value_kind
        if kind == LOADED and self._all_words_equal and not self._from_store:
            return self._word
        if kind != SUM:
            return _NO_SYMBOL
        value = instruction.value_delta
        base = instruction.value_base
        index = instruction.value_index
        if base >= 0:
            value += self.symbol[base]
        if index >= 0:
            if not self._is_number(self.symbol[index]) and not self._is_number(value):
                return _NO_SYMBOL
            if not self._is_number(self.symbol[index]) and instruction.value_scale != 1:
                return _NO_SYMBOL
            value += self.symbol[index] * instruction.value_scale
        return value

    cdef void move_stack(self, int i) noexcept nogil:
        """An instruction with an implicit use of the stack moves RSP; the published model does not follow
        that."""
        cdef Instruction *instruction = &self.program.instruction[i]
        if self.program.exact_values and instruction.rsp_step:
            self.symbol[self.program.rsp] += instruction.rsp_step

    cdef void result(self, int key, long long continued) noexcept nogil:
        """A result for this register becomes visible."""
        self.symbol[key] = self._new_origin() if continued == _NO_SYMBOL else continued
