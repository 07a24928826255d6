# Code fetch: hands the next piece of code to the DSB or to the predecoder (F1, L3, L5).

cdef enum:
    _ENOUGH_LINES = 2
    _ENOUGH_BLOCKS = 4


@cython.final
cdef class CodeFetch:
    """Keeps the code queues filled: whole rounds of a loop, 64-byte groups of unrolled code."""

    cdef Tables tables
    cdef Program program
    cdef Layout _layout
    cdef PairQueue _blocks
    cdef PairQueue _lines
    cdef int round
    cdef int instance  # Next instance to fetch.

    def __init__(self, Tables tables, Layout layout, Queues queues):
        self.tables = tables
        self.program = tables.program
        self._layout = layout
        self._blocks = queues.blocks
        self._lines = queues.lines

    cdef void start(self) noexcept nogil:
        """Reset to the beginning of the code."""
        self.round = 0
        self.instance = 0

    cdef void tick(self) noexcept nogil:
        """Fetch until enough code is queued."""
        while self._lines.count < _ENOUGH_LINES and self._blocks.count < _ENOUGH_BLOCKS:
            if self.program.loop:
                self._fetch_round()
            else:
                self._fetch_group()

    cdef int record(self, Record state) except -1 nogil:
        """Record this part of the pipeline's state."""
        blocks = self._blocks.count
        group = CODE_LINE
        if not self.program.loop and not self.program.adds_uops:
            # How far fetch is ahead does not matter: the predecoder always finds the next block, and the code
            # alone decides what follows. But added uops would be numbered after everything fetched.
            blocks = 1
            group = self._layout.fetch_bytes
        else:
            state.add(self.instance - state.instance)
            state.add(self.tables.instances - state.instance)
            state.add(self.tables.uops - state.uop)
            state.add(blocks)
        if not self.program.loop:
            state.add(self.tables.address_of(state.instance) % group)
        for position in range(blocks):
            index = (self._blocks.head + position) & self._blocks.mask
            state.add(self._blocks.firsts[index] - state.instance)
            state.add(self._blocks.seconds[index] - state.instance)
        for position in range(self._lines.count):
            index = (self._lines.head + position) & self._lines.mask
            state.add(self._lines.firsts[index])
            state.add(self._lines.seconds[index] - state.round)

    cdef void _fetch_round(self) noexcept nogil:
        count = self.program.instructions
        base = self.round * count
        # The end of a round is only noticed when the next begins, so that one's first group exists too.
        self.tables.generate(base + count + self._layout.first_group_end)
        for block in range(self._layout.blocks):
            first = self._layout.block_first[block]
            end = self._layout.block_end[block]
            if self._layout.cached[first]:
                for line in range(self._layout.block_line0[block], self._layout.block_line_end[block]):
                    self._lines.push(line, self.round)
            else:
                address = self._layout.address[first]
                self._layout.queue_fetch_blocks(self._blocks, base + first, base + end, address)
        self.round += 1
        self.instance = base + count

    cdef void _fetch_group(self) noexcept nogil:
        first = self.instance
        start = self.tables.address_of(first)
        address = start
        boundary = (start // CODE_LINE + 1) * CODE_LINE
        end = first
        i = first % self.program.instructions
        while address < boundary:
            address += self.program.instruction[i].length
            end += 1
            i += 1
            if i == self.program.instructions:
                i = 0
        self.tables.generate(end)
        self._layout.queue_fetch_blocks(self._blocks, first, end, start)
        self.instance = end
