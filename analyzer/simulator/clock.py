"""The clock: lets the stages of a core work cycle by cycle, and decides when it is enough."""

from __future__ import annotations

from collections.abc import Callable

from cyclelens.analyzer.simulator.back_end.reorder_buffer import ReorderBuffer
from cyclelens.analyzer.simulator.failures import Cancelled, SimulationStuck
from cyclelens.analyzer.simulator.period import Period, Repeating
from cyclelens.analyzer.simulator.tables.arrays import Record
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import NONE

_CANCEL_INTERVAL = 64
_STUCK_CYCLES = 100_000


class Clock(Repeating):
    """What the pipelines of all cores have in common: one run after the other. A pipeline builds the stages,
    and says what they do in a cycle."""

    def __init__(self, columns: Columns, reorder_buffer: ReorderBuffer) -> None:
        self.columns = columns
        self.program = columns.program
        self.reorder_buffer = reorder_buffer
        self._period = Period()

    def start_clock(self) -> None:
        """No cycle has passed."""
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
        self._period.start()

    def tick(self) -> None:
        """One cycle, the stages in their order."""

    def next_event(self) -> int:
        """The next cycle in which anything can happen."""
        return self.cycle + 1

    def skip_to(self, following: int) -> None:
        """The cycles up to the following one go by."""

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

    def run(
        self,
        min_rounds: int,
        min_cycles: int,
        *,
        stop_at_period: bool = False,
        skip: bool = True,
        cancel: Callable[[], bool] | None = None,
    ) -> None:
        """Clock until ``min_rounds`` have passed and more than ``min_cycles`` cycles (5.1), or, if allowed,
        until the pipeline's state repeats: all that follows is then known. ``skip``: cycles in which
        nothing can happen are not visited."""
        self._run(min_rounds, min_cycles, stop_at_period, skip, cancel)

    def _run(
        self,
        min_rounds: int,
        min_cycles: int,
        stop_at_period: bool,
        skip: bool,
        cancel: Callable[[], bool] | None,
    ) -> None:
        reorder_buffer = self.reorder_buffer
        key_rounds = progress = 0
        round_number = NONE
        while True:
            self.visited += 1
            self.tick()
            if (
                reorder_buffer.last_round >= min_rounds
                and self.cycle > min_cycles
                and self.cycle > self.least_cycles
            ):
                break
            if reorder_buffer.key_rounds != key_rounds:
                key_rounds = reorder_buffer.key_rounds
                if self.period_cycles == 0 and self.repeats(min_rounds, min_cycles) and stop_at_period:
                    break
            if cancel is not None and self.visited % _CANCEL_INTERVAL == 0 and cancel():
                raise Cancelled
            if reorder_buffer.last_round != round_number:
                progress = self.cycle
                round_number = reorder_buffer.last_round
            elif self.cycle - progress > _STUCK_CYCLES:
                raise SimulationStuck(f"no iteration retires in {_STUCK_CYCLES} cycles")
            following = self.next_event() if skip else self.cycle + 1
            if reorder_buffer.last_round >= min_rounds:
                following = min(following, min_cycles + 1)
            if following > self.cycle + 1:
                self.skip_to(following)
                self.cycle = following
            else:
                self.cycle += 1

    def rounds_retired(self, min_rounds: int, min_cycles: int) -> int:
        """Rounds of which a uop has retired when the full run ends (5.1). Where the run stopped because its
        state repeated, the times of the rounds to come are filled in."""
        if self.period_cycles == 0:
            return self.reorder_buffer.last_round + 1
        return self.reorder_buffer.repeat(
            self.period_first_round, self.period_rounds, self.period_cycles, min_rounds, min_cycles
        )

    def settle(self, rounds: int, *, cancel: Callable[[], bool] | None = None) -> tuple[int, int, int]:
        """Clock on until uops are issued as fast as they retire.

        Returns the cycle behind which they are, a later cycle, and how many rounds are issued between them:
        the first period of the states that repeat, or the second half of ``rounds`` if they do not. All that
        was issued by then has retired.
        """
        if self.period_cycles == 0 and self.reorder_buffer.last_round < rounds:
            self.cycle += 1
            self.run(rounds, 0, stop_at_period=True, cancel=cancel)
        if self.period_cycles:
            begin = self.period_begin
            end = begin + self.period_cycles
            rounds = self.period_rounds
        else:
            last = self.reorder_buffer.last_round
            first = last // 2
            begin = self._issue_of_round(first) - 1
            end = self._issue_of_round(last) - 1
            rounds = last - first
        entries = self.reorder_buffer.entries
        while entries.count > 0 and self.columns.issued[entries.firsts[entries.head]] <= end:
            self.cycle += 1
            self.tick()
        return begin, end, rounds

    def _issue_of_round(self, round_number: int) -> int:
        """The cycle in which the first uop of a round was issued."""
        columns = self.columns
        instance = round_number * self.program.instructions + self.program.first_instruction
        return columns.issued[columns.instance_uop0[instance]]
