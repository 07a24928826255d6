"""Position of the code and the parts that the DSB may hold: static, computed once before the run.

Rules L1 to L5 (layout), K1 to K4 (DSB lines) and Q1 to Q5 (cacheability) of docs/pipeline.md (uiCA model).
"""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.simulator.tables.arrays import PairQueue, Strided, ints
from cyclelens.analyzer.simulator.tables.constants import CODE_LINE, FETCH_BLOCK, NONE
from cyclelens.analyzer.simulator.tables.program import Program

_HALF = 32


class Layout:
    """The DSB blocks of one round and their lines.

    Columns over blocks (``block_``; ``first`` .. ``end`` are the instructions that start in it), over DSB
    lines (``line_``; ``first`` .. ``end`` are its entries) and over their entries (``entry_``: an IDQ uop of
    an instruction, whether a large immediate takes a second slot, whether the microcode sequencer takes
    over behind it, whether it holds the instruction's last uop).
    """

    def __init__(self, program: Program, microarchitecture: Microarchitecture) -> None:
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

    def start(self) -> None:
        """Lay out the program, which may have been refilled."""
        program = self.program
        count = program.instructions
        if count > self._room or program.idq_uops > self._entry_room:
            self._room = 2 * count
            self._entry_room = 2 * program.idq_uops
            self._make(self._room, self._entry_room)
        self.blocks = 0
        self.lines = 0
        self.entries = 0
        self.first_group_end = 0
        """End of the first 64-byte group of a round (L3)."""
        self.all_cacheable = 1
        self.erratum = NONE
        """The jump whose JCC erratum keeps cacheable code out of the DSB; NONE if there is none."""
        for i in range(count):
            self.address[i] = program.alignment + program.i_offset[i]
            self.cached[i] = 0
        if program.loop:
            self._find_blocks()
            self._find_cached(self._both_halves)

    def key(self) -> bytes:
        """What a run depends on of the code's position and of what predecoder and decoders see: blocks of
        otherwise equal instructions with equal keys run alike."""
        program = self.program
        count = program.instructions
        self._length = 0
        # Which branches fuse, and which have the erratum, depends on their positions too.
        self._tell(program.i_second, count)
        self._tell(program.i_jcc, count)
        cached: bool = program.loop and self.all_cacheable != 0
        if program.loop:
            self._tell(self.block_end, self.blocks)
            self._tell(self.cached, count)
            self._tell(self.line_end, self.lines)
            for i in range(count):
                cached = cached and self.cached[i] != 0
        if not cached:
            self._tell_number(program.alignment % self.fetch_bytes)
            self._tell(program.i_length, count)
            self._tell(program.i_opcode, count)
            self._tell(program.i_lcp, count)
            self._tell(program.i_fusible, count)
            self._tell(program.i_complex, count)
            self._tell(program.i_simple_decoders, count)
        moves: bool = program.most_merges > 0
        for i in range(count):
            moves = moves or program.i_rsp_change[i] != 0
        if moves:
            # Extra uops count as younger than all uops fetched before them, a line at a time (L3).
            self._tell_number(self.first_group_end if program.loop else program.alignment)
        return bytes(self._told[: self._length])

    def _tell(self, column: Strided, count: int) -> None:
        """Append the count and this many numbers to the key."""
        self._tell_number(count)
        for place in range(count):
            self._tell_number(column[place])

    def _tell_number(self, number: int) -> None:
        self._told[self._length] = number
        self._length += 1

    def _make(self, count: int, entries: int) -> None:
        """Create columns for this many instructions and entries."""
        self._told = ints(11 * count + 16)
        """The content of ``key``."""
        self.address = ints(count)
        self.cached = ints(count)
        """Whether the DSB serves the instruction's address (Q4, Q5)."""
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
        """Whether it takes exactly one slot: no large immediate, microcode or jump."""

    def _find_blocks(self) -> None:
        program = self.program
        count = program.instructions
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
            cacheable: bool = self.lines - self.block_line0[number] <= self._lines_per_block and not (
                self._crowds and self._too_many_lcps(first, position)
            )
            if cacheable and program.i_jcc[position - 1]:
                cacheable = False
                if self.all_cacheable:
                    # A fused pair's uops are those of its first half.
                    self.erratum = position - 1 - program.i_second[position - 1]
            self.block_cacheable[number] = cacheable
            if not cacheable:
                self.all_cacheable = 0
            self.blocks = number + 1

    def _find_cached(self, both_halves: bool) -> None:
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

    def _fill_lines(self, first: int, end: int) -> None:
        """Make the DSB lines of a block (K1 to K3)."""
        program = self.program
        free = 0
        for i in range(first, end):
            if program.i_second[i]:
                continue
            extra = program.i_extra_slot[i] if self._large_immediates else 0
            ms: bool = program.i_ms_uops[i] > 0
            mite_uops = program.i_mite_uops[i]
            if ms or mite_uops + extra > free:
                self.line_first[self.lines] = self.entries
                self.line_end[self.lines] = self.entries
                self.lines += 1
                free = self._slots
            for number in range(program.i_decoded_count[i]):
                entry = self.entries
                last_decoded: bool = number + 1 == mite_uops
                self.entry_instruction[entry] = i
                self.entry_idq_uop[entry] = program.i_idq0[i] + number
                self.entry_extra_slot[entry] = extra and last_decoded
                self.entry_ms[entry] = ms and last_decoded
                self.entry_last[entry] = number + 1 == program.i_idq_count[i]
                self.entry_plain[entry] = 1
                if (last_decoded and (extra or ms)) or program.i_jump[i] or i == program.key_instruction:
                    self.entry_plain[entry] = 0
                free -= 1
                if extra and last_decoded:
                    free -= 1
                self.entries = entry + 1
            self.line_end[self.lines - 1] = self.entries
            if ms:
                free = 0

    def _too_many_lcps(self, first: int, end: int) -> bool:
        """Whether Q3 applies: fusible instructions with length-changing prefixes on both sides of a 16-byte
        boundary."""
        position = first
        while position < end:
            half = self.address[position] // _HALF
            boundary = half * _HALF + FETCH_BLOCK
            start = position
            middle = position
            while position < end and self.address[position] // _HALF == half:
                if self.address[position] < boundary:
                    middle += 1
                position += 1
            if (
                start < middle < position
                and self.address[middle - 1] + self.program.i_opcode[middle - 1] >= boundary
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

    def _is_fusible_lcp(self, i: int) -> bool:
        return self.program.i_lcp[i] != 0 and self.program.i_fusible[i] != 0

    def next_is_cached(self, instruction: int) -> bool:
        """Whether the code after a delivered instruction is in the DSB (S3); for a fused pair that is the
        second half."""
        if instruction >= self.program.key_instruction:
            return self.cached[0] != 0
        return self.cached[instruction + 1] != 0

    def queue_fetch_blocks(self, blocks: PairQueue, first: int, end: int, start: int) -> None:
        """Queue the predecoder's blocks of the instances ``first`` .. ``end``, which lie from ``start`` on
        (L4).

        An empty block follows a block whose last instance is a branch that crosses its end (F1).
        """
        program = self.program
        following = first % program.instructions
        instance = first
        address = start
        while instance < end:
            head = instance
            boundary = (address // self.fetch_bytes + 1) * self.fetch_bytes
            last = 0
            while instance < end and address < boundary:
                last = following
                following += 1
                if following == program.instructions:
                    following = 0
                address += program.i_length[last]
                instance += 1
            blocks.push(head, instance)
            if self._empty_blocks and program.i_branch[last] and address > boundary:
                blocks.push(instance, instance)
