"""Code fetch: the next piece of code goes to the DSB or to the predecoder (F1, L3, L5)."""

from __future__ import annotations

from cyclelens.analyzer.simulator.columns import Columns
from cyclelens.analyzer.simulator.layout import CODE_LINE, Layout, fetch_blocks
from cyclelens.analyzer.simulator.queues import CodeQueue

_ENOUGH_LINES = 2
_ENOUGH_BLOCKS = 4


class CodeFetch:
    """Keeps the code queue filled: whole rounds of a loop, 64-byte groups of unrolled code."""

    def __init__(self, columns: Columns, layout: Layout, code: CodeQueue) -> None:
        self._columns = columns
        self._program = columns.program
        self._layout = layout
        self._code = code
        self._round = 0
        self._instance = 0

    def tick(self) -> None:
        """Fetch until enough code is queued."""
        code = self._code
        while len(code.lines) < _ENOUGH_LINES and len(code.blocks) < _ENOUGH_BLOCKS:
            if self._program.loop:
                self._fetch_round()
            else:
                self._fetch_group()

    def _fetch_round(self) -> None:
        number = self._round
        count = self._program.instructions
        base = number * count
        # The end of a round is noticed only when the next begins, so that one's first group exists too.
        self._columns.generate(base + count + self._layout.first_group_end)
        for block in self._layout.blocks:
            if self._layout.cached[block.first]:
                self._code.lines.extend((line, number) for line in block.lines)
            else:
                self._code.blocks.extend((base + a, base + b) for a, b in block.fetch_blocks)
        self._round += 1

    def _fetch_group(self) -> None:
        columns = self._columns
        first = self._instance
        line = columns.address_of(first) // CODE_LINE
        while columns.address_of(self._instance) // CODE_LINE == line:
            self._instance += 1
        columns.generate(self._instance)
        self._code.blocks.extend(fetch_blocks(self._program, first, self._instance, columns.address))
