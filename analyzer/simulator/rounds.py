"""The rounds of a run: which have passed, and which follow once the state repeats."""

from __future__ import annotations

from cyclelens.analyzer.simulator.back_end.reorder_buffer import ReorderBuffer
from cyclelens.analyzer.simulator.period import Period, Repeating
from cyclelens.analyzer.simulator.tables.arrays import Record
from cyclelens.analyzer.simulator.tables.columns import Columns


class Rounds(Repeating):
    """Progress of a run, and the period of its state."""

    def __init__(self, columns: Columns, reorder_buffer: ReorderBuffer) -> None:
        self.columns = columns
        self.program = columns.program
        self.reorder_buffer = reorder_buffer
        self._period = Period()

    def start_clock(self, shown: bool) -> None:
        """Reset: no cycle has passed. ``shown``: as in ``Period``."""
        self.cycle = 0
        self.visited = 0
        """Number of cycles simulated, without those skipped because nothing could happen in them."""
        self.least_cycles = 0
        """Minimum run length in cycles before steady state."""
        self.period_cycles = 0
        self.period_rounds = 0
        """Cycles and rounds of the period; 0 if not known."""
        self.period_begin = 0
        self.period_first_round = 0
        """The cycle and the round at whose end the repeating state was first recorded."""
        self._period.start(shown)

    def record(self, state: Record) -> None:
        """Record the whole state at the end of a round."""
        round_number = self.reorder_buffer.key_rounds - 1
        instance = round_number * self.program.instructions
        state.start(self.cycle, round_number, instance, self.columns.instance_uop0[instance])
        state.add(self.reorder_buffer.key_position[round_number])
        state.add(self.reorder_buffer.last_round - round_number)
        self.record_stages(state)

    def record_stages(self, state: Record) -> None:
        """Record the state of the stages."""

    def stays(self, rounds: int, periods: int) -> bool:
        """Whether anything outside the recorded state also lets periods of this many rounds follow."""
        return True

    def repeats(self, min_rounds: int, min_cycles: int) -> bool:
        """At the end of a round: whether the state equals an earlier one and keeps repeating up to the end
        of a run (5.1). If so, the period is set."""
        if not self._period.found(self, self.cycle):
            return False
        cycles = self.cycle - self._period.begin
        rounds = self.reorder_buffer.key_rounds - 1 - self._period.round
        left = max(
            (min_cycles - self.cycle) // cycles, (min_rounds - self.reorder_buffer.last_round) // rounds, 0
        )
        if not self.stays(rounds, left + 2):
            return False
        self.period_begin = self._period.begin
        self.period_cycles = cycles
        self.period_first_round = self._period.round
        self.period_rounds = rounds
        return True

    def rounds_retired(self, min_rounds: int, min_cycles: int) -> int:
        """Number of rounds with a retired uop at the end of the full run (5.1). If the run stopped because
        its state repeats, the times of the remaining rounds are filled in."""
        if self.period_cycles == 0:
            return self.reorder_buffer.last_round + 1
        return self.reorder_buffer.repeat(
            self.period_first_round, self.period_rounds, self.period_cycles, min_rounds, min_cycles
        )

    def issue_of_round(self, round_number: int) -> int:
        """The cycle in which the first uop of a round issued."""
        columns = self.columns
        instance = round_number * self.program.instructions + self.program.first_instruction
        return columns.issued[columns.instance_uop0[instance]]
