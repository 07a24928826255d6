"""The clock: advances the stages of a core cycle by cycle and decides when the run ends."""

from __future__ import annotations

from collections.abc import Callable

from cyclelens.analyzer.simulator.failures import Cancelled, SimulationStuck
from cyclelens.analyzer.simulator.rounds import Rounds
from cyclelens.analyzer.simulator.tables.constants import NEVER, NONE

_CANCEL_INTERVAL = 64
_STUCK_CYCLES = 100_000


class Clock(Rounds):
    """Common base of the pipelines of all cores; performs one run after another. A pipeline creates the
    stages and orders them within a cycle."""

    def tick(self) -> None:
        """Simulate one cycle, with the stages in order."""

    def next_event(self) -> int:
        """The next cycle in which anything can happen."""
        return self.cycle + 1

    def next_of(self, following: int) -> int:
        """The cycle ``following``, or an earlier one in which a uop retires. ``following`` is NEVER or later
        if no event is known; if there is none at all, the next cycle."""
        retirement = self.reorder_buffer.next_retirement(self.cycle)
        if retirement != NONE and retirement < following:
            following = retirement
        return following if following < NEVER else self.cycle + 1

    def skip_to(self, following: int) -> None:
        """Skip the cycles up to the following one."""

    def run(
        self,
        min_rounds: int,
        min_cycles: int,
        *,
        stop_at_period: bool = False,
        skip: bool = True,
        cancel: Callable[[], bool] | None = None,
    ) -> None:
        """Run until ``min_rounds`` have passed and more than ``min_cycles`` cycles (5.1) or, if allowed,
        until the pipeline's state repeats, because then the rest is known. ``skip``: do not simulate cycles
        in which nothing can happen."""
        self._run(min_rounds, min_cycles, stop_at_period, skip, cancel)

    def pace(self, min_rounds: int, min_cycles: int) -> float:
        """Cycles per round (5.2, 5.3) of a full run, which stops early if its state repeats."""
        self._run(min_rounds, min_cycles, True, True, None)
        first, last = self.reorder_buffer.window(self.rounds_retired(min_rounds, min_cycles))
        return self.reorder_buffer.cycles_per_round(first, last)

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
                following = min(following, max(min_cycles, self.least_cycles) + 1)
            if following > self.cycle + 1:
                self.skip_to(following)
                self.cycle = following
            else:
                self.cycle += 1

    def settle(self, rounds: int, *, cancel: Callable[[], bool] | None = None) -> tuple[int, int, int]:
        """Run on until uops issue as fast as they retire.

        Returns the cycle after which they do, a later cycle, and the number of rounds issued in between.
        That is the first period of the repeating states, or the second half of ``rounds`` if they do not
        repeat. All uops issued by then have retired.
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
            begin = self.issue_of_round(first) - 1
            end = self.issue_of_round(last) - 1
            rounds = last - first
        entries = self.reorder_buffer.entries
        while entries.count > 0 and self.columns.issued[entries.firsts[entries.head]] <= end:
            self.cycle += 1
            self.tick()
        return begin, end, rounds
