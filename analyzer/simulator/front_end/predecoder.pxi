# The predecoder: splits blocks of 16 or 32 bytes into instances for the instruction queue (uiCA model,
# 3.3).


@cython.final
cdef class Predecoder:
    """As many instances per cycle as the core's width; a length-changing prefix stalls for three cycles."""

    cdef Tables tables
    cdef Program program
    cdef PairQueue _blocks
    cdef PairQueue _instructions
    cdef Shortage _shortage
    cdef int _width
    cdef int _block_bytes
    cdef int _in_block  # Mask of an address's offset within its block; block sizes are powers of two.
    cdef int _queue_size
    cdef int _queue_limit
    cdef int _delay
    cdef int _penalty
    cdef int[::1] _group
    cdef int next
    cdef int end
    cdef int group_count
    cdef int partial
    cdef int stall
    cdef int _prefixed  # The instruction in the current block whose length-changing prefix stalls it.
    cdef int cycles_on_block
    cdef bint _has_prefixes  # Whether any instruction has such a prefix.

    def __init__(self, Tables tables, microarchitecture, Queues queues):
        self.tables = tables
        self.program = tables.program
        self._blocks = queues.blocks
        self._instructions = queues.instructions
        self._shortage = queues.shortage
        self._width = microarchitecture.predecode_width
        self._block_bytes = microarchitecture.predecode_block_bytes
        self._in_block = self._block_bytes - 1
        self._queue_size = microarchitecture.instruction_queue_size
        self._queue_limit = self._queue_size - self._width
        self._delay = microarchitecture.predecode_to_decode_delay
        self._penalty = microarchitecture.length_changing_prefix_penalty
        self._group = ints(self._width)

    cdef void start(self) noexcept nogil:
        """Reset to empty."""
        self.next = 0
        self.end = 0
        self.group_count = 0
        self.partial = NONE
        self.stall = 0
        self._prefixed = NONE
        self.cycles_on_block = 0
        self._has_prefixes = False
        for i in range(self.program.instructions):
            if self.program.instruction[i].lcp:
                self._has_prefixes = True

    cdef void tick(self, int cycle) noexcept nogil:
        """Simulate one cycle."""
        if (
            self.stall == 0
            and self.group_count == 0
            and (self._blocks.count > 0 or self.partial != NONE)
            and self._instructions.count <= self._queue_limit
            and not self._collect()
        ):
            return
        if self.stall == 0:
            for position in range(self.group_count):
                instance = self._group[position]
                self.tables.instance[instance].predecoded = cycle
                self._instructions.push(instance, cycle)
            self.group_count = 0
        else:
            self.stall -= 1
            self._shortage.stall(cycle, self._prefixed)

    cdef object buffer(self):
        """The instruction queue."""
        return Buffer("IQ", self._queue_size, self._queue_limit)

    cdef int record(self, Record state) except -1 nogil:
        """Record this part of the pipeline's state, with the instruction queue that it fills."""
        if self.next < self.end:
            state.add(self.next - state.instance)
            state.add(self.end - state.instance)
        state.add(self.group_count)
        for position in range(self.group_count):
            state.add(self._group[position] - state.instance)
        state.add(NONE if self.partial == NONE else self.partial - state.instance)
        state.add(self.stall)
        state.add(self.cycles_on_block)
        state.add(self._instructions.count)
        for position in range(self._instructions.count):
            index = (self._instructions.head + position) & self._instructions.mask
            state.add(self._instructions.firsts[index] - state.instance)
            state.add_time(self._instructions.seconds[index], self._delay)

    cdef bint _collect(self) noexcept nogil:
        """Fill the group from the current block; False if there is no block to work on."""
        if self.partial != NONE:
            self._group[0] = self.partial
            self.group_count = 1
            self.partial = NONE
        if self.next == self.end:
            if self._blocks.count == 0:
                return False
            self._next_block()
        while self.next < self.end and self.group_count < self._width:
            # Only the last instruction that begins in a block can cross its end.
            if self.next + 1 == self.end and self._spills(self.next):
                break
            self._group[self.group_count] = self.next
            self.group_count += 1
            self.next += 1
        if (
            self.next + 1 == self.end
            and self._spills(self.next)
            and (self.group_count < self._width or self._opcode_spills(self.next))
        ):
            self.partial = self.next
            self.next += 1
        self.cycles_on_block += 1
        return True

    cdef void _next_block(self) noexcept nogil:
        cdef Instruction *instruction
        self.next = self._blocks.firsts[self._blocks.head]
        self.end = self._blocks.seconds[self._blocks.head]
        self._blocks.pop()
        lcps = 0
        for instance in range(self.next, self.end if self._has_prefixes else self.next):
            i = self.tables.instance[instance].place
            instruction = &self.program.instruction[i]
            if instruction.lcp:
                lcps += instruction.lcp
                self._prefixed = i
        # Cycles that the previous block took beyond its first one hide part of the penalty.
        self.stall = max(0, self._penalty * lcps - max(0, self.cycles_on_block - 1))
        self.cycles_on_block = 0

    cdef bint _spills(self, int number) noexcept nogil:
        cdef Instance *instance = &self.tables.instance[number]
        length = self.program.instruction[instance.place].length
        return (instance.address & self._in_block) + length > self._block_bytes

    cdef bint _opcode_spills(self, int number) noexcept nogil:
        cdef Instance *instance = &self.tables.instance[number]
        opcode = self.program.instruction[instance.place].opcode
        return (instance.address & self._in_block) + opcode >= self._block_bytes
