"""The decoded stream buffer (uop cache): delivery of its lines (X1 to X6; uiCA model, 3.6.4)."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.simulator.tables.arrays import Record
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import LATE_DSB, MICROCODE_SWITCH, NONE
from cyclelens.analyzer.simulator.tables.layout import Layout
from cyclelens.analyzer.simulator.tables.queues import MicrocodeQueue, Queues


class Dsb:
    """Delivers from at most two lines per cycle."""

    def __init__(
        self,
        columns: Columns,
        microarchitecture: Microarchitecture,
        layout: Layout,
        queues: Queues,
        microcode: MicrocodeQueue,
    ) -> None:
        self._program = columns.program
        self._layout = layout
        self._lines = queues.lines
        self._delivered = queues.delivered
        self._shortage = queues.shortage
        self._microcode = microcode
        self._width = microarchitecture.dsb_width
        self._loses_width = microarchitecture.dsb_loses_width_across_blocks
        self._ms_stall = microarchitecture.dsb_to_ms_stall
        self._most_taken = microarchitecture.taken_branches_per_cycle

    def start(self) -> None:
        """Reset to the beginning of a line."""
        self.position = 0
        self.extra_last_cycle = False
        self.last_instruction = NONE
        """The latest instruction delivered in the latest cycle, NONE if there was none."""
        self.finished = False
        """Whether its last uop was delivered."""
        self._taken_branches = 0
        """Taken branches delivered in this cycle."""

    def tick(self) -> None:
        """Simulate one cycle, in which nothing has been delivered yet."""
        layout = self._layout
        lines = self._lines
        budget = self._width
        fresh: bool = self.position == 0
        extra_before: bool = self.extra_last_cycle
        self.extra_last_cycle = False
        self.last_instruction = NONE
        self.finished = False
        opened_second = False
        count = 0
        self._taken_branches = 0
        self._shortage.note(LATE_DSB)
        while budget > 0 and lines.count > 0:
            if count > 0:
                # The line of the last entry is used up: open the next (X1).
                if opened_second or not self._may_open():
                    break
                opened_second = True
            line = lines.firsts[lines.head]
            first_instance = lines.seconds[lines.head] * self._program.instructions
            first = layout.line_first[line]
            entry = first + self.position
            end = layout.line_end[line]
            while entry < end and budget > 0:
                if layout.entry_extra_slot[entry] and budget < 2:
                    break
                i = layout.entry_instruction[entry]
                self._delivered.firsts[count] = layout.entry_idq_uop[entry]
                self._delivered.seconds[count] = first_instance + i
                count += 1
                self._delivered.count = count
                budget -= 1
                if not layout.entry_plain[entry]:
                    budget = self._behind(entry, budget)
                entry += 1
            if entry == first + self.position:
                break
            self.last_instruction = layout.entry_instruction[entry - 1]
            self.finished = layout.entry_last[entry - 1] != 0
            if entry < end:
                self.position = entry - first
                break
            lines.pop()
            self.position = 0
            if budget > 0 and lines.count > 0 and self._loses_width:
                budget = self._across_lines(end - first - 1, count, budget, fresh, extra_before)

    def record(self, state: Record) -> None:
        """Record this part of the pipeline's state."""
        state.add(self.position)
        state.add(self.extra_last_cycle)

    def _behind(self, entry: int, budget: int) -> int:
        """The remaining budget after an entry with an immediate, microcode or a jump."""
        layout = self._layout
        i = layout.entry_instruction[entry]
        if layout.entry_extra_slot[entry]:
            budget = 0
            self.extra_last_cycle = True
        if layout.entry_ms[entry]:
            end = self._program.i_idq0[i] + self._program.i_idq_count[i]
            first = layout.entry_idq_uop[entry] + 1
            instance = self._delivered.seconds[self._delivered.count - 1]
            self._microcode.hand_over(first, end, instance, i, self._ms_stall, 0)
            self._shortage.blame(MICROCODE_SWITCH, i)
            budget = 0
        if self._most_taken and layout.entry_last[entry] and self._taken(i):
            # Limit on taken branches per cycle (X6).
            self._taken_branches += 1
            if self._taken_branches == self._most_taken:
                budget = 0
        return budget

    def _next_line_start(self) -> int:
        """Instruction at the start of the next queued line."""
        line = self._lines.firsts[self._lines.head]
        return self._layout.entry_instruction[self._layout.line_first[line]]

    def _may_open(self) -> bool:
        """Whether a second line may be opened after the last delivered entry (X1)."""
        layout = self._layout
        line = self._lines.firsts[self._lines.head]
        if layout.entry_ms[layout.line_end[line] - 1]:
            return False
        last = self.last_instruction
        end = layout.address[last] + self._program.i_length[last]
        return end == layout.address[self._next_line_start()] or last == self._program.key_instruction

    def _taken(self, i: int) -> bool:
        """Whether an instruction is followed by another one than its successor in the code."""
        return self._program.i_jump[i] != 0 or (self._program.loop and i == self._program.key_instruction)

    def _across_lines(self, slot: int, count: int, budget: int, fresh: bool, extra_before: bool) -> int:
        """The remaining budget when a line ends within a cycle (X5)."""
        layout = self._layout
        here = layout.address[self.last_instruction] // layout.block_bytes
        same_block: bool = layout.address[self._next_line_start()] // layout.block_bytes == here
        last: bool = self.last_instruction == self._program.key_instruction
        if same_block:
            return 0 if layout.block_bytes == 32 and last and not extra_before else budget
        if fresh:
            if count <= 2:
                return 4
            if count <= 4:
                return 2
            return 1 if count == 5 else budget
        if last:
            if count == 1 or (count == 2 and slot >= 4):
                return 4
            return min(budget, 2)
        return budget
