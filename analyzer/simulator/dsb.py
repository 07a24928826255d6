"""The decoded stream buffer (uop cache): delivery of its lines (X1 to X5; uiCA model, 3.6.4)."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.simulator.columns import NONE, Columns
from cyclelens.analyzer.simulator.layout import Layout, LineEntry
from cyclelens.analyzer.simulator.queues import CodeQueue, MicrocodeQueue

_WIDE = 6
"""DSB width at which crossing into another line costs bandwidth (X5)."""


class Dsb:
    """Delivers from at most two lines a cycle."""

    def __init__(
        self,
        columns: Columns,
        microarchitecture: Microarchitecture,
        layout: Layout,
        code: CodeQueue,
        microcode: MicrocodeQueue,
    ) -> None:
        self._program = columns.program
        self._layout = layout
        self._code = code
        self._microcode = microcode
        self._width = microarchitecture.dsb_width
        self._block_bytes = microarchitecture.dsb_block_bytes
        self._ms_stall = microarchitecture.dsb_to_ms_stall
        self._position = 0
        self._extra_last_cycle = False
        self.last_finished = NONE
        """Instruction (position in the round) whose last uop was the last one delivered in the latest
        cycle, NONE otherwise."""

    def tick(self, delivered: list[tuple[int, int]]) -> None:
        """One cycle; IDQ uops go to ``delivered`` as (static IDQ uop, instance)."""
        lines = self._code.lines
        budget = self._width
        fresh = self._position == 0
        extra_before = self._extra_last_cycle
        self._extra_last_cycle = False
        self.last_finished = NONE
        opened_second = False
        count = 0
        entry: LineEntry | None = None
        while budget > 0 and lines:
            if entry is not None and self._position == 0:
                # The line of the last entry is used up: open the next (X1).
                if opened_second or not self._may_open(entry):
                    break
                opened_second = True
            number, round_number = lines[0]
            line = self._layout.lines[number]
            upcoming = line[self._position]
            if upcoming.extra_slot and budget < 2:
                break
            entry = upcoming
            instance = round_number * self._program.instructions + entry.instruction
            delivered.append((entry.idq_uop, instance))
            count += 1
            self.last_finished = entry.instruction if entry.contains_last_uop else NONE
            if entry.extra_slot:
                budget = 0
                self._extra_last_cycle = True
            else:
                budget -= 1
            if entry.has_ms_uops:
                self._hand_over(entry, instance)
                budget = 0
            slot = self._position
            self._position += 1
            if self._position == len(line):
                lines.popleft()
                self._position = 0
                if budget > 0 and lines and self._width == _WIDE:
                    budget = self._across_lines(entry, slot, count, budget, fresh, extra_before)

    def _hand_over(self, entry: LineEntry, instance: int) -> None:
        program = self._program
        end = program.i_idq0[entry.instruction] + program.i_idq_count[entry.instruction]
        self._microcode.hand_over(entry.idq_uop + 1, end, instance, self._ms_stall, 0)

    def _is_last_of_round(self, entry: LineEntry) -> bool:
        return entry.instruction == self._program.key_instruction

    def _may_open(self, entry: LineEntry) -> bool:
        """Whether a second line may be opened behind this entry (X1)."""
        line = self._layout.lines[self._code.lines[0][0]]
        if line[-1].has_ms_uops:
            return False
        address = self._layout.address
        end = address[entry.instruction] + self._program.i_length[entry.instruction]
        return end == address[line[0].instruction] or self._is_last_of_round(entry)

    def _across_lines(
        self, entry: LineEntry, slot: int, count: int, budget: int, fresh: bool, extra_before: bool
    ) -> int:
        """What is left of the budget when a line ends within a cycle (X5)."""
        address = self._layout.address
        following = self._layout.lines[self._code.lines[0][0]][0].instruction
        same_block = (
            address[following] // self._block_bytes == address[entry.instruction] // self._block_bytes
        )
        last = self._is_last_of_round(entry)
        if self._block_bytes == 32 and same_block and last and not extra_before:
            return 0
        if not same_block and fresh:
            return {1: 4, 2: 4, 3: 2, 4: 2, 5: 1}.get(count, budget)
        if not same_block and last:
            if count == 1 or (count == 2 and slot >= 4):
                return 4
            return min(budget, 2)
        return budget
