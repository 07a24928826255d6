"""The reorder buffer: fused uops retire in order (uiCA model, 3.10)."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.simulator.arrays import PairQueue, grown, ints
from cyclelens.analyzer.simulator.columns import Columns
from cyclelens.analyzer.simulator.constants import ELIMINATED, NONE, UNKNOWN
from cyclelens.analyzer.simulator.queues import Queues

_MARGIN = 16


class ReorderBuffer:
    """Entries are fused uops as (first uop, number of uops)."""

    def __init__(self, columns: Columns, microarchitecture: Microarchitecture, queues: Queues) -> None:
        self._columns = columns
        self._program = columns.program
        self._issued = queues.issued
        self._size = microarchitecture.reorder_buffer_size
        self._issue_width = microarchitecture.issue_width
        self._retire_width = microarchitecture.retire_width
        self.entries = PairQueue(self._size + 64)
        self.last_round = NONE
        """Round of the fused uop that retired last."""
        self.key_cycle = ints(64)
        """Per round: retirement cycle of the key instruction's last fused uop (5.2)."""
        self.key_position = ints(64)
        """Per round: the position of that uop within its retirement cycle."""
        self.key_rounds = 0
        """Rounds whose key instruction has retired."""

    def reserve(self) -> None:
        """Make room for the rounds that one cycle can retire; to be called before each."""
        if self.last_round + _MARGIN > len(self.key_cycle):
            self.key_cycle = grown(self.key_cycle, 2 * (self.last_round + _MARGIN))
            self.key_position = grown(self.key_position, 2 * (self.last_round + _MARGIN))

    def full(self) -> bool:
        """No room for a whole issue group."""
        return self.entries.count + self._issue_width > self._size

    def tick(self, cycle: int) -> None:
        """Retire what is complete, then take in the issue group."""
        columns = self._columns
        program = self._program
        entries = self.entries
        position = 0
        while position < self._retire_width and entries.count > 0:
            first = entries.firsts[entries.head]
            end = first + entries.seconds[entries.head]
            if not self._complete(first, end, cycle):
                break
            entries.pop()
            for uop in range(first, end):
                columns.retired[uop] = cycle
            if columns.position[first] == 0 or self.last_round == NONE:
                self.last_round = columns.instance[first] // program.instructions
            if columns.position[first] == program.key_instruction:
                self.key_cycle[self.last_round] = cycle
                self.key_position[self.last_round] = position
                if program.u_last[columns.static[end - 1]]:
                    self.key_rounds = self.last_round + 1
            position += 1
        for position in range(self._issued.count):
            first = self._issued.firsts[position]
            size = self._issued.seconds[position]
            entries.push(first, size)
            for uop in range(first, first + size):
                if columns.port[uop] == ELIMINATED or program.u_port_mask[columns.static[uop]] == 0:
                    columns.executed[uop] = cycle

    def _complete(self, first: int, end: int, cycle: int) -> bool:
        columns = self._columns
        for uop in range(first, end):
            if columns.executed[uop] == UNKNOWN or columns.executed[uop] >= cycle:
                return False
        return True
