"""Where the code lies and what of it the DSB may hold: static, worked out once before the run.

Rules L1 to L5 (layout), K1 to K4 (DSB lines) and Q1 to Q5 (cacheability) of docs/pipeline.md (uiCA model).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.simulator.program import Program

CODE_LINE = 64
FETCH_BLOCK = 16
_HALF = 32


@dataclass(frozen=True, slots=True)
class LineEntry:
    """One slot's worth of a DSB line: an IDQ uop of an instruction."""

    instruction: int
    idq_uop: int
    """Static IDQ uop."""
    extra_slot: bool
    """A large immediate takes a second slot."""
    has_ms_uops: bool
    """The microcode sequencer takes over behind it."""
    contains_last_uop: bool
    """Its IDQ uop holds the instruction's last uop."""


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """The instructions (positions in the round) that start in one DSB block."""

    first: int
    end: int
    cacheable: bool
    lines: tuple[int, ...]
    """Numbers of its DSB lines in ``Layout.lines``."""
    fetch_blocks: tuple[tuple[int, int], ...]
    """Its 16-byte blocks for the predecoder as (first, end); an empty one follows a branch that spills."""


def fetch_blocks(program: Program, first: int, end: int, address: Sequence[int]) -> list[tuple[int, int]]:
    """The 16-byte blocks of a run of instances (L4), as (first, end).

    An empty block follows one whose last instance is a branch that reaches beyond it (F1).
    """
    blocks: list[tuple[int, int]] = []
    instance = first
    while instance < end:
        start = instance
        boundary = (address[start] // FETCH_BLOCK + 1) * FETCH_BLOCK
        while instance < end and address[instance] < boundary:
            instance += 1
        blocks.append((start, instance))
        last = (instance - 1) % program.instructions
        if program.i_branch[last] and address[instance - 1] + program.i_length[last] > boundary:
            blocks.append((instance, instance))
    return blocks


class Layout:
    """Addresses of one round and its DSB lines."""

    def __init__(self, program: Program, microarchitecture: Microarchitecture) -> None:
        self.program = program
        self._block_bytes = microarchitecture.dsb_block_bytes
        self._slots = microarchitecture.dsb_slots_per_line
        self._lines_per_block = microarchitecture.dsb_lines_per_block
        self.lines: list[tuple[LineEntry, ...]] = []
        self.address = [program.alignment + offset for offset in program.i_offset]
        self.blocks: tuple[CodeBlock, ...] = ()
        self.cached = [False] * program.instructions
        """Whether the instruction's address is served by the DSB (Q4, Q5)."""
        self.first_group_end = 0
        """End of the first 64-byte group of a round."""
        self.all_cacheable = False
        if program.loop:
            self._lay_out(microarchitecture.both_halves_cacheable)

    def _lay_out(self, both_halves: bool) -> None:
        positions = range(self.program.instructions)
        groups = []
        for _, members in groupby(positions, lambda i: self.address[i] // CODE_LINE):
            group = tuple(members)
            blocks = []
            for _, inner in groupby(group, lambda i: self.address[i] // self._block_bytes):
                block = tuple(inner)
                blocks.append(self._block(block[0], block[-1] + 1))
            groups.append(tuple(blocks))
        self.first_group_end = groups[0][-1].end
        self.blocks = tuple(block for group in groups for block in group)
        self.all_cacheable = all(block.cacheable for block in self.blocks)
        for group in groups:
            usable = group
            if not all(block.cacheable for block in group):
                if both_halves:
                    return
                usable = group[: [block.cacheable for block in group].index(False)]
            for block in usable:
                self.cached[block.first : block.end] = [True] * (block.end - block.first)
            if usable != group:
                return

    def _block(self, first: int, end: int) -> CodeBlock:
        lines = self._lines(first, end)
        cacheable = (
            len(lines) <= self._lines_per_block
            and not self.program.i_jcc[end - 1]
            and not self._too_many_lcps(first, end)
        )
        numbers = tuple(range(len(self.lines), len(self.lines) + len(lines)))
        self.lines += lines
        fetched = fetch_blocks(self.program, first, end, self.address)
        return CodeBlock(first, end, cacheable, numbers, tuple(fetched))

    def _lines(self, first: int, end: int) -> list[tuple[LineEntry, ...]]:
        program = self.program
        lines: list[list[LineEntry]] = []
        free = 0
        for i in range(first, end):
            if program.i_second[i]:
                continue
            extra = program.i_extra_slot[i]
            microcoded = program.i_ms_uops[i] > 0
            needed = max(1, program.i_mite_uops[i]) + extra
            if microcoded or needed > free:
                lines.append([])
                free = self._slots
            count = program.i_decoded_count[i]
            for number in range(count):
                is_last = number + 1 == program.i_mite_uops[i]
                lines[-1].append(
                    LineEntry(
                        instruction=i,
                        idq_uop=program.i_idq0[i] + number,
                        extra_slot=extra and is_last,
                        has_ms_uops=microcoded and is_last,
                        contains_last_uop=number + 1 == program.i_idq_count[i],
                    )
                )
                free -= 1 + (extra and is_last)
            if microcoded:
                free = 0
        return [tuple(line) for line in lines]

    def _too_many_lcps(self, first: int, end: int) -> bool:
        """Q3: fusible instructions with length-changing prefixes on both sides of a 16-byte boundary."""
        program = self.program

        def counts(i: int) -> bool:
            return program.i_lcp[i] and program.i_fusible[i]

        for _, members in groupby(range(first, end), lambda i: self.address[i] // _HALF):
            half = list(members)
            before = [i for i in half if self.address[i] % _HALF < FETCH_BLOCK]
            after = half[len(before) :]
            if (
                before
                and after
                and self.address[before[-1]] % FETCH_BLOCK + program.i_opcode[before[-1]] >= FETCH_BLOCK
            ):
                after.insert(0, before.pop())
            if before and counts(before[-1]) and sum(counts(i) for i in after) >= 2:
                return True
        return False

    def next_is_cached(self, instruction: int) -> bool:
        """Whether the code that follows a delivered instruction is in the DSB (S3); for a fused pair
        this asks about the second half."""
        if instruction >= self.program.key_instruction:
            return self.cached[0]
        return self.cached[instruction + 1]
