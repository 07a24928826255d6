"""The reorder buffer: fused uops retire in order (uiCA model, 3.10)."""

from __future__ import annotations

from collections import deque

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.simulator.columns import ELIMINATED, NONE, UNKNOWN, Columns
from cyclelens.analyzer.simulator.queues import IssueGroup


class ReorderBuffer:
    """Entries are fused uops as (first uop, number of uops)."""

    def __init__(self, columns: Columns, microarchitecture: Microarchitecture, issue: IssueGroup) -> None:
        self._columns = columns
        self._program = columns.program
        self._issue = issue
        self._entries: deque[tuple[int, int]] = deque()
        self._size = microarchitecture.reorder_buffer_size
        self._issue_width = microarchitecture.issue_width
        self._retire_width = microarchitecture.retire_width
        self.last_round = NONE
        """Round of the fused uop that retired last."""
        self.key_cycle: list[int] = []
        """Per round: retirement cycle of the key instruction's last fused uop (5.2)."""
        self.key_position: list[int] = []
        """Per round: the position of that uop within its retirement cycle."""

    @property
    def full(self) -> bool:
        """No room for a whole issue group."""
        return len(self._entries) + self._issue_width > self._size

    @property
    def empty(self) -> bool:
        """Nothing in flight."""
        return not self._entries

    def tick(self, cycle: int) -> None:
        """Retire what is complete, then take in the issue group."""
        columns = self._columns
        program = self._program
        entries = self._entries
        for position in range(self._retire_width):
            if not entries:
                break
            first, count = entries[0]
            if not all(UNKNOWN < columns.executed[uop] < cycle for uop in range(first, first + count)):
                break
            entries.popleft()
            for uop in range(first, first + count):
                columns.retired[uop] = cycle
            last = first + count - 1
            round_number, instruction = divmod(columns.instance[last], program.instructions)
            self.last_round = round_number
            if instruction == program.key_instruction:
                if round_number == len(self.key_cycle):
                    self.key_cycle.append(cycle)
                    self.key_position.append(position)
                else:
                    self.key_cycle[round_number] = cycle
                    self.key_position[round_number] = position
        for first, count in self._issue.fused:
            entries.append((first, count))
            for uop in range(first, first + count):
                if columns.port[uop] == ELIMINATED or not program.u_port_mask[columns.static[uop]]:
                    columns.executed[uop] = cycle
