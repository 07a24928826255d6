# Position of the code and the parts that the DSB may hold: static, computed once before the run.
#
# Rules L1 to L5 (layout), K1 to K4 (DSB lines) and Q1 to Q5 (cacheability) of docs/pipeline.md (uiCA model).

cdef enum:
    _HALF_LINE = 32


@cython.final
cdef class Layout:
    """The DSB blocks of one round and their lines.

    Tables over blocks (``block_``; ``first`` .. ``end`` are the instructions that start in it), over DSB
    lines (``line_``; ``first`` .. ``end`` are its entries) and over their entries (``entry_``: an IDQ uop of
    an instruction, whether a large immediate takes a second slot, whether the microcode sequencer takes
    over behind it, whether it holds the instruction's last uop).
    """

    cdef Program program
    cdef int block_bytes
    cdef int fetch_bytes
    cdef int _slots
    cdef int _lines_per_block
    cdef bint _large_immediates
    cdef bint _crowds
    cdef bint _empty_blocks
    cdef bint _both_halves
    cdef int _room
    cdef int _entry_room
    cdef int _length
    cdef int blocks
    cdef int lines
    cdef int entries
    cdef int first_group_end  # End of the first 64-byte group of a round (L3).
    cdef int all_cacheable
    # The jump whose JCC erratum keeps cacheable code out of the DSB; NONE if there is none.
    cdef int erratum
    cdef int[::1] _told  # The content of ``key``.
    cdef int[::1] address
    cdef int[::1] cached  # Whether the DSB serves the instruction's address (Q4, Q5).
    cdef int[::1] block_first
    cdef int[::1] block_end
    cdef int[::1] block_cacheable
    cdef int[::1] block_line0
    cdef int[::1] block_line_end
    cdef int[::1] line_first
    cdef int[::1] line_end
    cdef int[::1] entry_instruction
    cdef int[::1] entry_idq_uop
    cdef int[::1] entry_extra_slot
    cdef int[::1] entry_ms
    cdef int[::1] entry_last
    # Whether it takes exactly one slot: no large immediate, microcode or jump.
    cdef int[::1] entry_plain

    def __init__(self, Program program, microarchitecture):
        self.program = program
        self.block_bytes = microarchitecture.dsb_block_bytes
        self.fetch_bytes = microarchitecture.predecode_block_bytes
        self._slots = microarchitecture.dsb_slots_per_line
        self._lines_per_block = microarchitecture.dsb_lines_per_block
        self._large_immediates = microarchitecture.large_immediate_takes_slot
        self._crowds = microarchitecture.crowded_prefixes_uncacheable
        self._empty_blocks = microarchitecture.branch_across_blocks_costs_a_block
        self._both_halves = microarchitecture.both_halves_cacheable
        self._room = 0
        self._entry_room = 0
        self._length = 0

    cdef int start(self) except -1:
        """Lay out the program, which may have been refilled."""
        count = self.program.instructions
        if count > self._room or self.program.idq_uops > self._entry_room:
            self._room = 2 * count
            self._entry_room = 2 * self.program.idq_uops
            self._make(self._room, self._entry_room)
        self.blocks = 0
        self.lines = 0
        self.entries = 0
        self.first_group_end = 0
        self.all_cacheable = 1
        self.erratum = NONE
        for i in range(count):
            self.address[i] = self.program.alignment + self.program.instruction[i].offset
            self.cached[i] = 0
        if self.program.loop:
            self._find_blocks()
            self._find_cached(self._both_halves)

    cdef object key(self):
        """What a run depends on of the code's position and of what predecoder and decoders see: blocks of
        otherwise equal instructions with equal keys run alike."""
        cdef bint cached, moves
        cdef Instruction *instruction
        count = self.program.instructions
        self._length = 0
        self._tell_number(count)
        # Which branches fuse, and which have the erratum, depends on their positions too.
        for i in range(count):
            self._tell_number(self.program.instruction[i].second)
            self._tell_number(self.program.instruction[i].jcc)
        cached = self.program.loop and self.all_cacheable != 0
        if self.program.loop:
            self._tell(self.block_end, self.blocks)
            self._tell(self.cached, count)
            self._tell(self.line_end, self.lines)
            for i in range(count):
                cached = cached and self.cached[i] != 0
        if not cached:
            self._tell_number(self.program.alignment % self.fetch_bytes)
            for i in range(count):
                instruction = &self.program.instruction[i]
                self._tell_number(instruction.length)
                self._tell_number(instruction.opcode)
                self._tell_number(instruction.lcp)
                self._tell_number(instruction.fusible)
                self._tell_number(instruction.complex_decoder)
                self._tell_number(instruction.simple_decoders)
        moves = self.program.most_merges > 0
        for i in range(count):
            moves = moves or self.program.instruction[i].rsp_change != 0
        if moves:
            # Extra uops count as younger than all uops fetched before them, a line at a time (L3).
            self._tell_number(self.first_group_end if self.program.loop else self.program.alignment)
        return (<char *> &self._told[0])[: self._length * sizeof(int)]

    cdef void _tell(self, int[::1] column, int count) noexcept nogil:
        """Append the count and this many numbers to the key."""
        self._tell_number(count)
        for place in range(count):
            self._tell_number(column[place])

    cdef void _tell_number(self, int number) noexcept nogil:
        self._told[self._length] = number
        self._length += 1

    cdef int _make(self, int count, int entries) except -1:
        """Create the arrays for this many instructions and entries."""
        self._told = ints(11 * count + 16)
        self.address = ints(count)
        self.cached = ints(count)
        self.block_first = ints(count)
        self.block_end = ints(count)
        self.block_cacheable = ints(count)
        self.block_line0 = ints(count)
        self.block_line_end = ints(count)
        self.line_first = ints(count)
        self.line_end = ints(count)
        self.entry_instruction = ints(entries)
        self.entry_idq_uop = ints(entries)
        self.entry_extra_slot = ints(entries)
        self.entry_ms = ints(entries)
        self.entry_last = ints(entries)
        self.entry_plain = ints(entries)

    cdef void _find_blocks(self) noexcept nogil:
        cdef bint cacheable
        count = self.program.instructions
        while (
            self.first_group_end < count
            and self.address[self.first_group_end] // CODE_LINE == self.address[0] // CODE_LINE
        ):
            self.first_group_end += 1
        position = 0
        while position < count:
            first = position
            block = self.address[first] // self.block_bytes
            while position < count and self.address[position] // self.block_bytes == block:
                position += 1
            number = self.blocks
            self.block_first[number] = first
            self.block_end[number] = position
            self.block_line0[number] = self.lines
            self._fill_lines(first, position)
            self.block_line_end[number] = self.lines
            cacheable = self.lines - self.block_line0[number] <= self._lines_per_block and not (
                self._crowds and self._too_many_lcps(first, position)
            )
            if cacheable and self.program.instruction[position - 1].jcc:
                cacheable = False
                if self.all_cacheable:
                    # A fused pair's uops are those of its first half.
                    self.erratum = position - 1 - self.program.instruction[position - 1].second
            self.block_cacheable[number] = cacheable
            if not cacheable:
                self.all_cacheable = 0
            self.blocks = number + 1

    cdef void _find_cached(self, bint both_halves) noexcept nogil:
        """Find the cached code, which is a prefix of the loop body (Q4, Q5)."""
        for number in range(self.blocks):
            if not self.block_cacheable[number]:
                return
            if both_halves and number + 1 < self.blocks:
                here = self.address[self.block_first[number]] // CODE_LINE
                following = self.address[self.block_first[number + 1]] // CODE_LINE
                if here == following and not self.block_cacheable[number + 1]:
                    return
            for i in range(self.block_first[number], self.block_end[number]):
                self.cached[i] = 1

    cdef void _fill_lines(self, int first, int end) noexcept nogil:
        """Make the DSB lines of a block (K1 to K3)."""
        cdef bint ms, last_decoded, ends
        free = 0
        for i in range(first, end):
            if self.program.instruction[i].second:
                continue
            extra = self.program.instruction[i].extra_slot if self._large_immediates else 0
            ms = self.program.instruction[i].ms_uops > 0
            mite_uops = self.program.instruction[i].mite_uops
            if ms or mite_uops + extra > free:
                self.line_first[self.lines] = self.entries
                self.line_end[self.lines] = self.entries
                self.lines += 1
                free = self._slots
            for number in range(self.program.instruction[i].decoded_count):
                entry = self.entries
                last_decoded = number + 1 == mite_uops
                self.entry_instruction[entry] = i
                self.entry_idq_uop[entry] = self.program.instruction[i].idq0 + number
                self.entry_extra_slot[entry] = extra and last_decoded
                self.entry_ms[entry] = ms and last_decoded
                self.entry_last[entry] = number + 1 == self.program.instruction[i].idq_count
                self.entry_plain[entry] = 1
                ends = self.program.instruction[i].jump != 0 or i == self.program.key_instruction
                if ends or (last_decoded and (extra or ms)):
                    self.entry_plain[entry] = 0
                free -= 1
                if extra and last_decoded:
                    free -= 1
                self.entries = entry + 1
            self.line_end[self.lines - 1] = self.entries
            if ms:
                free = 0

    cdef bint _too_many_lcps(self, int first, int end) noexcept nogil:
        """Whether Q3 applies: fusible instructions with length-changing prefixes on both sides of a 16-byte
        boundary."""
        position = first
        while position < end:
            half = self.address[position] // _HALF_LINE
            boundary = half * _HALF_LINE + FETCH_BLOCK
            start = position
            middle = position
            while position < end and self.address[position] // _HALF_LINE == half:
                if self.address[position] < boundary:
                    middle += 1
                position += 1
            if (
                start < middle < position
                and self.address[middle - 1] + self.program.instruction[middle - 1].opcode >= boundary
            ):
                middle -= 1
            if start < middle and self._is_fusible_lcp(middle - 1):
                behind = 0
                for i in range(middle, position):
                    if self._is_fusible_lcp(i):
                        behind += 1
                if behind >= 2:
                    return True
        return False

    cdef bint _is_fusible_lcp(self, int i) noexcept nogil:
        return self.program.instruction[i].lcp != 0 and self.program.instruction[i].fusible != 0

    cdef bint next_is_cached(self, int instruction) noexcept nogil:
        """Whether the code after a delivered instruction is in the DSB (S3); for a fused pair that is the
        second half."""
        if instruction >= self.program.key_instruction:
            return self.cached[0] != 0
        return self.cached[instruction + 1] != 0

    cdef void queue_fetch_blocks(self, PairQueue blocks, int first, int end, int start) noexcept nogil:
        """Queue the predecoder's blocks of the instances ``first`` .. ``end``, which lie from ``start`` on
        (L4).

        An empty block follows a block whose last instance is a branch that crosses its end (F1).
        """
        following = first % self.program.instructions
        instance = first
        address = start
        while instance < end:
            head = instance
            boundary = (address // self.fetch_bytes + 1) * self.fetch_bytes
            last = 0
            while instance < end and address < boundary:
                last = following
                following += 1
                if following == self.program.instructions:
                    following = 0
                address += self.program.instruction[last].length
                instance += 1
            blocks.push(head, instance)
            if self._empty_blocks and self.program.instruction[last].branch and address > boundary:
                blocks.push(instance, instance)
