"""The rounds of a run: which have passed, and what is to come once the state repeats."""

from __future__ import annotations

from cyclelens.analyzer.simulator.back_end.reorder_buffer import ReorderBuffer
from cyclelens.analyzer.simulator.period import Period, Repeating
from cyclelens.analyzer.simulator.tables.arrays import Record
from cyclelens.analyzer.simulator.tables.columns import Columns


class Rounds(Repeating):
    """Where a run stands, and whether its state came again."""

    def __init__(self, columns: Columns, reorder_buffer: ReorderBuffer) -> None:
        self.columns = columns
        self.program = columns.program
        self.reorder_buffer = reorder_buffer
        self._period = Period()

    def start_clock(self, shown: bool) -> None:
        """No cycle has passed. ``shown``: as in ``Period``."""
        self.cycle = 0
        self.visited = 0
        """Cycles that were not skipped because nothing could happen in them."""
        self.least_cycles = 0
        """A run that has not come to its pace yet goes on to this cycle."""
        self.period_cycles = 0
        self.period_rounds = 0
        """How long and how many rounds it takes until the same state comes again; 0 if not known."""
        self.period_begin = 0
        self.period_first_round = 0
        """The cycle and the round at whose end the state was first met that came again."""
        self._period.start(shown)

    def record(self, state: Record) -> None:
        """The whole state at the end of a round."""
        round_number = self.reorder_buffer.key_rounds - 1
        instance = round_number * self.program.instructions
        state.start(self.cycle, round_number, instance, self.columns.instance_uop0[instance])
        state.add(self.reorder_buffer.key_position[round_number])
        state.add(self.reorder_buffer.last_round - round_number)
        self.record_stages(state)

    def record_stages(self, state: Record) -> None:
        """What the stages add to a state."""

    def stays(self, rounds: int, periods: int) -> bool:
        """Whether what is not in the state, if there is such, lets periods of so many rounds follow."""
        return True

    def repeats(self, min_rounds: int, min_cycles: int) -> bool:
        """At the end of a round: whether the state is that of an earlier one, and stays so up to the end of a
        run (5.1). If so, the period is known."""
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
        """Rounds of which a uop has retired when the full run ends (5.1). Where the run stopped because its
        state repeated, the times of the rounds to come are filled in."""
        if self.period_cycles == 0:
            return self.reorder_buffer.last_round + 1
        return self.reorder_buffer.repeat(
            self.period_first_round, self.period_rounds, self.period_cycles, min_rounds, min_cycles
        )

    def issue_of_round(self, round_number: int) -> int:
        """The cycle in which the first uop of a round was issued."""
        columns = self.columns
        instance = round_number * self.program.instructions + self.program.first_instruction
        return columns.issued[columns.instance_uop0[instance]]
