"""Code fetch: hands the next piece of code to the DSB or to the predecoder (F1, L3, L5)."""

from __future__ import annotations

from cyclelens.analyzer.simulator.tables.arrays import Record
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import CODE_LINE
from cyclelens.analyzer.simulator.tables.layout import Layout
from cyclelens.analyzer.simulator.tables.queues import Queues

_ENOUGH_LINES = 2
_ENOUGH_BLOCKS = 4


class CodeFetch:
    """Keeps the code queues filled: whole rounds of a loop, 64-byte groups of unrolled code."""

    def __init__(self, columns: Columns, layout: Layout, queues: Queues) -> None:
        self._columns = columns
        self._program = columns.program
        self._layout = layout
        self._blocks = queues.blocks
        self._lines = queues.lines

    def start(self) -> None:
        """Reset to the beginning of the code."""
        self.round = 0
        self.instance = 0
        """Next instance to fetch."""

    def tick(self) -> None:
        """Fetch until enough code is queued."""
        while self._lines.count < _ENOUGH_LINES and self._blocks.count < _ENOUGH_BLOCKS:
            if self._program.loop:
                self._fetch_round()
            else:
                self._fetch_group()

    def record(self, state: Record) -> None:
        """Record this part of the pipeline's state."""
        program = self._program
        blocks = self._blocks.count
        group = CODE_LINE
        if not program.loop and not program.adds_uops:
            # How far fetch is ahead does not matter: the predecoder always finds the next block, and the code
            # alone decides what follows. But added uops would be numbered after everything fetched.
            blocks = 1
            group = self._layout.fetch_bytes
        else:
            state.add(self.instance - state.instance)
            state.add(self._columns.instances - state.instance)
            state.add(self._columns.uops - state.uop)
            state.add(blocks)
        if not program.loop:
            state.add(self._columns.address_of(state.instance) % group)
        for position in range(blocks):
            index = (self._blocks.head + position) & self._blocks.mask
            state.add(self._blocks.firsts[index] - state.instance)
            state.add(self._blocks.seconds[index] - state.instance)
        for position in range(self._lines.count):
            index = (self._lines.head + position) & self._lines.mask
            state.add(self._lines.firsts[index])
            state.add(self._lines.seconds[index] - state.round)

    def _fetch_round(self) -> None:
        layout = self._layout
        count = self._program.instructions
        base = self.round * count
        # The end of a round is only noticed when the next begins, so that one's first group exists too.
        self._columns.generate(base + count + layout.first_group_end)
        for block in range(layout.blocks):
            first = layout.block_first[block]
            end = layout.block_end[block]
            if layout.cached[first]:
                for line in range(layout.block_line0[block], layout.block_line_end[block]):
                    self._lines.push(line, self.round)
            else:
                layout.queue_fetch_blocks(self._blocks, base + first, base + end, layout.address[first])
        self.round += 1
        self.instance = base + count

    def _fetch_group(self) -> None:
        program = self._program
        first = self.instance
        start = self._columns.address_of(first)
        address = start
        boundary = (start // CODE_LINE + 1) * CODE_LINE
        end = first
        i = first % program.instructions
        while address < boundary:
            address += program.i_length[i]
            end += 1
            i += 1
            if i == program.instructions:
                i = 0
        self._columns.generate(end)
        self._layout.queue_fetch_blocks(self._blocks, first, end, start)
        self.instance = end
