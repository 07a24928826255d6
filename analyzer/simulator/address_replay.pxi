# Finds which accesses of future rounds overlap, without simulating time.

cdef enum:
    # Number of periods examined: if accesses do not repeat with one of them, they hardly ever do
    # later.
    _TRIES = 8
    _BEGINS = 0
    _COVERED = 1
    _PARTLY = 2
    _CHUNKS_BACK = 16  # Stores among which one to the same chunk is looked for.


@cython.final
cdef class AddressReplay:
    """Emulates a run from its beginning, and keeps the outcome of each access of the latest period."""

    cdef Tables tables
    cdef Program program
    cdef Operations operations
    cdef MacroMemory _memory
    cdef Emulator _emulator
    cdef int _reach
    cdef bint _gathers  # Whether it matters which bytes of a chunk the stores write.
    cdef bint _by_chunks  # Whether it matters if stores go to one chunk.
    cdef int _mask
    cdef long long[::1] _bases
    cdef int[::1] _bytes
    cdef int[::1] _met  # Outcome by access of the latest period.
    cdef int tries
    cdef int _stores

    def __init__(self, Tables tables, microarchitecture, Operations operations, MacroMemory memory, options):
        rules = microarchitecture.macro_ops
        assert rules is not None
        self.tables = tables
        self.program = tables.program
        self.operations = operations
        self._memory = memory
        self._emulator = Emulator(tables, operations, options.assume, options.harness)
        self._reach = rules.store_queue
        self._by_chunks = rules.store_chunk_bytes > 0
        self._gathers = rules.store_gathering is not None
        size = 1
        while size < self._reach:
            size *= 2
        self._mask = size - 1
        self._bases = longs(size)
        self._bytes = ints(size)
        self._met = ints(0)

    cdef void start(self) noexcept nogil:
        """Reset for a new run."""
        self.tries = _TRIES

    cdef bint repeats(self, int instance, int rounds, int periods) except -1 nogil:
        """Whether all accesses of the next ``periods`` periods, from this instance on, have the same outcomes
        as one period earlier. A period has ``rounds`` rounds."""
        cdef bint compared
        self.tries -= 1
        accesses = 0
        for static in range(self.program.uops):
            accesses += self.program.uop[static].has_address
        if accesses == 0 or self.operations.still:
            return True
        accesses *= rounds
        if accesses > len(self._met):
            with gil:
                self._met = ints(2 * accesses)
        length = rounds * self.program.instructions
        self._emulator.start()
        self._stores = 0
        access = i = 0
        for each in range(instance + periods * length):
            compared = each >= instance
            uop0 = self.program.instruction[i].uop0
            for static in range(uop0, uop0 + self.program.instruction[i].uop_count):
                if self.program.uop[static].has_address:
                    outcome = self._access(static, i, each)
                    if compared and self._met[access] != outcome:
                        return False
                    self._met[access] = outcome
                    access += 1
                    if access == accesses:
                        access = 0
            self._emulator.execute(i, each)
            i += 1
            if i == self.program.instructions:
                i = 0
        return True

    cdef int _gathered(self, long long address, int size) noexcept nogil:
        """Of a store that is gathered by chunks: which boundary it crosses, how far back the latest store to
        its chunk is, and where in the chunk it writes, if a part of a word."""
        cdef long long chunk
        chunk = address // self._memory.chunk
        back = 0
        for distance in range(1, min(_CHUNKS_BACK, self._stores) + 1):
            if self._bases[(self._stores - distance) & self._mask] // self._memory.chunk == chunk:
                back = distance
                break
        self._emulator.store_address = address
        self._bases[self._stores & self._mask] = address
        self._bytes[self._stores & self._mask] = size
        self._stores += 1
        outcome = 3 * back + self._memory.crossing(address, size)
        if address % MERGED or (address + size) % MERGED:
            outcome += 64 * (1 + address % self._memory.chunk)
        return outcome

    cdef int _access(self, int static, int i, int instance) noexcept nogil:
        """What the time of an access depends on. For a store: which boundary it crosses, and whether it goes
        to the chunk of the previous store. For a load: whether it crosses a line, and how far back the store
        that it overlaps is."""
        cdef BlockUop *block_uop = &self.program.uop[static]
        cdef long long address, before, ahead
        cdef int crosses, together
        kind = block_uop.kind
        size = block_uop.bytes
        address = self._emulator.address(static, i, instance)
        if kind == STORE_ADDRESS:
            if self._gathers:
                return self._gathered(address, size)
            before = self._bases[(self._stores - 1) & self._mask] if self._stores > 0 else 0
            self._emulator.store_address = address
            self._bases[self._stores & self._mask] = address
            self._bytes[self._stores & self._mask] = size
            self._stores += 1
            together = self._by_chunks and before // self._memory.chunk == address // self._memory.chunk
            return 2 * self._memory.crossing(address, size) + together
        crosses = address % CODE_LINE + size > CODE_LINE
        if kind == LOAD:
            self._emulator.load_address = address
            for distance in range(1, min(self._reach, self._stores) + 1):
                slot = (self._stores - distance) & self._mask
                ahead = address - self._bases[slot]
                if -size < ahead < self._bytes[slot]:
                    outcome = _COVERED if ahead > 0 else _BEGINS
                    if ahead < 0 or ahead + size > self._bytes[slot]:
                        outcome = _PARTLY
                    return (distance * 4 + outcome) * 2 + crosses
        return crosses
