# The front end of macro-ops: the op cache by windows of 64 bytes, or the decoders (M1 to M3).


cdef class OpCache(FrontEnd):
    """Loops come from the op cache; straight-line code and loops too long for it come from the decoders."""

    cdef Tables tables
    cdef Program program
    cdef Operations operations
    cdef InFlight flight
    cdef PairQueue _idq
    cdef Shortage _shortage
    cdef int _idq_size
    cdef int _decoders
    cdef int _decode_bytes
    cdef int _buffer_bytes
    cdef int _long
    cdef int instance  # The next instance to deliver.
    cdef int wait  # Time until the next window can be read, in eighths of a cycle.
    cdef bint decodes
    cdef int _long_pair
    cdef int _page_end
    cdef int _long_debt  # Lost to pairs of long instructions, in eighths of a cycle.
    cdef int _page_debt  # Lost to ends of pages: cycles times bytes of a page.
    cdef bint _after_long  # Whether the latest decoded instruction was long.
    cdef int fetched  # Address up to which the decoders have received bytes.

    def __init__(
        self, Tables tables, microarchitecture, Queues queues, Operations operations, InFlight in_flight
    ):
        super().__init__()
        rules = microarchitecture.macro_ops
        assert rules is not None
        self.tables = tables
        self.program = tables.program
        self.operations = operations
        self.flight = in_flight
        self._idq = queues.idq
        self._shortage = queues.shortage
        self._idq_size = microarchitecture.idq_size
        self._decoders = microarchitecture.decoders
        self._decode_bytes = rules.decode_bytes
        self._buffer_bytes = rules.decode_buffer_bytes
        self._long = rules.long_instruction_bytes
        self._long_pair = rules.long_pair_eighths
        # The cycles of a page's end, spread over its bytes: so a run's figure does not depend on how
        # many ends it meets.
        self._page_end = rules.page_decode_cycles * rules.decode_bytes

    cdef int start(self) except -1:
        """Reset to the beginning of the code."""
        self.instance = 0
        self._fetch_from(self.program.alignment)
        self.wait = 0
        self._long_debt = self._page_debt = 0
        self._after_long = False
        self.decodes = self.operations.decoded
        self.flight.decoded = self.decodes
        self.flight.small_loop = self.operations.small_loop

    cdef void _fetch_from(self, int address) noexcept nogil:
        self.fetched = address // self._decode_bytes * self._decode_bytes

    cdef int tick(self, int cycle) except -1 nogil:
        """Simulate one cycle."""
        if not self.decodes:
            self._pass()
            self._shortage.note(LATE_DSB)
            while self.wait <= 0 and self._idq.count < self._idq_size:
                self._window(cycle)
        else:
            self._decode(cycle)

    cdef int idle(self) noexcept nogil:
        """Cycles in which the op queue is full or the current window is being read. Decoders continue until
        their buffer is full."""
        if self.decodes:
            ahead = self.fetched - self.tables.address_of(self.instance)
            return NEVER if self._idq.count >= self._idq_size and ahead >= self._buffer_bytes else 0
        if self._idq.count >= self._idq_size:
            return NEVER
        return max(0, (self.wait - 1) // EIGHTHS)

    cdef void skip(self, int cycles) noexcept nogil:
        """Skip this many of these cycles."""
        for _ in range(0 if self.decodes else cycles):
            self._pass()

    cdef void _pass(self) noexcept nogil:
        """Pass a cycle in which windows are read."""
        self.wait -= EIGHTHS
        if self.wait <= -EIGHTHS:
            # It had to wait for room; at most a fraction of a cycle can be caught up.
            self.wait = 0

    cdef int outline(self) noexcept nogil:
        """A hash of the state."""
        return self.wait if not self.decodes else self.fetched - self.tables.address_of(self.instance)

    cdef int record(self, Record state) except -1 nogil:
        """Record this part of the pipeline's state."""
        state.add(self.instance - state.instance)
        if not self.decodes:
            state.add(self.wait)
        else:
            state.add(self.fetched - self.tables.address_of(self.instance))
            state.add(self._page_debt)
            state.add(2 * self._long_debt + self._after_long)

    cdef object buffers(self):
        """The op queue."""
        return (Buffer("IDQ", self._idq_size, self._idq_size - 1),)

    cdef object placement(self):
        """How the position cuts a loop into windows, and which of its branches fuse. Straight-line code
        passes through all positions; only the ends of pages count from its first bytes."""
        if not self.program.loop:
            return bytes([self.program.alignment % self._decode_bytes if self._page_end else 0])
        told = array("i", [self.flight.small_loop])
        for i in range(self.program.instructions):
            told.append(self.program.instruction[i].second)
        if self.operations.follows_place() or self.operations.decoded:
            follows = self.operations.follows_place()
            told.append(self.program.alignment if follows else self.program.alignment % self._decode_bytes)
            for i in range(self.program.instructions):
                told.append(self.program.instruction[i].length)
            return told.tobytes()
        first = 0
        while first < self.program.instructions:
            told.append(self.operations.w_last[first])
            told.append(self.operations.w_eighths[first])
            first = self.operations.w_last[first] + 1
        return told.tobytes()

    cdef void _decode(self, int cycle) noexcept nogil:
        address = self.tables.address_of(self.instance)
        if self.fetched - address < self._buffer_bytes:
            self._fetch()
        used = 0
        self._shortage.note(DECODER)
        while used < self._decoders and self._idq.count < self._idq_size:
            i = self.instance % self.program.instructions
            length = self.program.instruction[i].length
            if address + length > self.fetched:
                self._shortage.note(PREDECODER)
                return
            if length > self._long and (used > 0 or self._lost_to_pairs()):
                return
            self._after_long = length > self._long
            if self.operations.m_begins_group[i]:
                if used > 0:
                    return
                used = self._decoders
            else:
                used += 1
            self._deliver(MITE, cycle)
            address += length
            if self.program.loop and i == self.program.instructions - 1:
                # Decoding continues at the branch target.
                self._fetch_from(self.program.alignment)
                return

    cdef void _fetch(self) noexcept nogil:
        """Receive the next bytes, unless a page's end costs this cycle."""
        if self._page_debt >= PAGE:
            self._page_debt -= PAGE
            return
        self._page_debt += self._page_end
        self.fetched += self._decode_bytes

    cdef bint _lost_to_pairs(self) noexcept nogil:
        """Whether this cycle is lost because long instructions follow each other."""
        if not self._after_long:
            return False
        if self._long_debt >= EIGHTHS:
            self._long_debt -= EIGHTHS
            return True
        self._long_debt += self._long_pair
        return False

    cdef void _deliver(self, int source, int cycle) noexcept nogil:
        """Move the next instance into the op queue."""
        cdef Uop *uop
        cdef Instance *instance
        cdef Instruction *instruction
        index = self.instance
        instance = &self.tables.instance[index]
        self.tables.generate(index + 1)
        i = index % self.program.instructions
        instruction = &self.program.instruction[i]
        instance.predecoded = cycle
        instance.removed = cycle
        for idq_uop in range(instruction.idq0, instruction.idq0 + instruction.idq_count):
            first = instance.uop0
            if self.tables.followed:
                for number in range(first, first + instruction.uop_count):
                    uop = &self.tables.uop[number]
                    uop.source = source
                    uop.added = cycle
            self._idq.push(first, idq_uop)
            self._shortage.delivered = idq_uop
        self.instance = index + 1

    cdef void _window(self, int cycle) noexcept nogil:
        """Deliver the instances of one window of code, and note how long that takes."""
        first = self.instance % self.program.instructions
        for _ in range(first, self.operations.w_last[first] + 1):
            self._deliver(DSB, cycle)
        self.wait += self.operations.w_eighths[first]
