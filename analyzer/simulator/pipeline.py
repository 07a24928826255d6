"""The clock: builds the stages of one run, orders them within a cycle, and decides when to stop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import ceil
from typing import TypeAlias

from cyclelens.analyzer.model.account import Account
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.options import PUBLISHED, ModelOptions
from cyclelens.analyzer.model.result import Simulation
from cyclelens.analyzer.model.uops import Block
from cyclelens.analyzer.simulator import policies
from cyclelens.analyzer.simulator.back_end.binding import Binding
from cyclelens.analyzer.simulator.back_end.memory import Memory
from cyclelens.analyzer.simulator.back_end.picker import Picker
from cyclelens.analyzer.simulator.back_end.renamer import Renamer
from cyclelens.analyzer.simulator.back_end.reorder_buffer import ReorderBuffer
from cyclelens.analyzer.simulator.back_end.resources import Resources
from cyclelens.analyzer.simulator.back_end.scheduler import Scheduler
from cyclelens.analyzer.simulator.back_end.store_buffer import StoreBuffer
from cyclelens.analyzer.simulator.failures import Cancelled, SimulationStuck
from cyclelens.analyzer.simulator.front_end.front_end import FrontEnd
from cyclelens.analyzer.simulator.macro_pipeline import MacroPipeline
from cyclelens.analyzer.simulator.observed.accounting import account_of
from cyclelens.analyzer.simulator.observed.summary import summarize
from cyclelens.analyzer.simulator.tables.arrays import Record, ints
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import NONE
from cyclelens.analyzer.simulator.tables.entries import Entries
from cyclelens.analyzer.simulator.tables.program import Program
from cyclelens.analyzer.simulator.tables.queues import Queues

_CANCEL_INTERVAL = 64
_BUFFERS_FILLED = 4
_STUCK_CYCLES = 100_000
_FIRST_ANCHOR = 24
_OUTLINE = 5
_MOST_SPARE = 16
AnyPipeline: TypeAlias = "Pipeline | MacroPipeline"
_SPARE: dict[tuple[int, ModelOptions], AnyPipeline] = {}
"""Pipelines of runs that are over, by their microarchitecture's identity and their options."""


class Pipeline:
    """The stages of one microarchitecture, for one run after the other."""

    def __init__(self, microarchitecture: Microarchitecture, options: ModelOptions, columns: Columns) -> None:
        self.microarchitecture = microarchitecture
        self.options = options
        program = columns.program
        queues = Queues(microarchitecture)
        entries = Entries(columns, microarchitecture)
        memory = Memory(columns, options.assume)
        self.program = program
        self.columns = columns
        self.queues = queues
        self.entries = entries
        self.memory = memory
        self.front_end: FrontEnd = policies.front_end(columns, microarchitecture, queues, options)
        self.resources = Resources(columns, microarchitecture, options)
        self.renamer = Renamer(columns, microarchitecture, queues, memory, self.resources, entries)
        self.binding: Binding = policies.binding(columns, microarchitecture, queues, entries, options)
        picker: Picker = policies.picker(columns, microarchitecture, entries, self.binding)
        self.scheduler = Scheduler(columns, microarchitecture, queues, picker)
        self.reorder_buffer = ReorderBuffer(columns, microarchitecture, queues)
        self.store_buffer = StoreBuffer(columns)

        # The record of the state does not cover what only these variants have.
        self._repeatable = not (options.hardware or options.simple_front_end or options.port_seed is not None)
        self._state = Record()
        self._anchor = Record()
        self._state.compare_with(self._anchor)
        self._outline = ints(_OUTLINE)

    def start(self, block: Block) -> None:
        """Get ready for a run over a block; nothing of the run before remains."""
        program = self.program
        program.fill(block, self.microarchitecture, self.options)
        self.columns.start()
        self.queues.start(program)
        self.entries.start()
        self.memory.start()
        self.resources.start()
        self.renamer.start()
        self.binding.start()
        self.scheduler.start()
        self.reorder_buffer.start()
        self.store_buffer.start()
        self.front_end.start()

        self.period_cycles = 0
        self.period_rounds = 0
        """How long and how many rounds it takes until the same state comes again; 0 if not known."""
        self._anchor_round = NONE
        self._next_anchor = _FIRST_ANCHOR
        self.cycle = 0
        self.visited = 0
        """Cycles that were not skipped because nothing could happen in them."""

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
        key_rounds = 0
        progress = 0
        round_number = NONE
        while True:
            self.tick()
            if reorder_buffer.last_round >= min_rounds and self.cycle > min_cycles:
                break
            if reorder_buffer.key_rounds != key_rounds:
                key_rounds = reorder_buffer.key_rounds
                if self.period_cycles == 0 and self._repeatable and self._state_repeats():
                    self.period_cycles = self.cycle - self._anchor.cycle
                    self.period_rounds = key_rounds - 1 - self._anchor_round
                    if stop_at_period:
                        break
            if cancel is not None and self.visited % _CANCEL_INTERVAL == 0 and cancel():
                raise Cancelled
            if reorder_buffer.last_round != round_number:
                progress = self.cycle
                round_number = reorder_buffer.last_round
            elif self.cycle - progress > _STUCK_CYCLES:
                raise SimulationStuck(f"no iteration retires in {_STUCK_CYCLES} cycles")
            following = self._next_event() if skip else self.cycle + 1
            if reorder_buffer.last_round >= min_rounds:
                following = min(following, min_cycles + 1)
            if following > self.cycle + 1:
                self._skip_to(following)
            self.cycle = following

    def _skip_to(self, following: int) -> None:
        """The cycles up to the following one go by; what is waited for in them is recorded all the same."""
        self.scheduler.skip(following - self.cycle - 1)
        self.columns.reserve_cycles(following)
        for cycle in range(self.cycle + 1, following):
            self.renamer.stand(cycle)
            self.reorder_buffer.look(cycle)

    def _next_event(self) -> int:
        """The next cycle in which anything can happen: the next one, unless the front end and the issue have
        to wait for room and the scheduler for a ready time."""
        if (
            self.queues.issued.count > 0
            or not self.front_end.rests()
            or not (self.reorder_buffer.full() or self.entries.full())
            or not self.scheduler.waits()
            or not self.binding.settled()
            or self.resources.limited
            or self.program.exact_memory
        ):
            return self.cycle + 1
        ready = self.scheduler.next_ready(self.cycle)
        retirement = self.reorder_buffer.next_retirement(self.cycle)
        if ready == NONE or retirement == NONE:
            # At most one of them is known; if neither is, nothing will ever happen.
            return max(ready, retirement, self.cycle + 1)
        return min(ready, retirement)

    def _state_repeats(self) -> bool:
        """At the end of a round: whether the pipeline's state is that of an earlier round, the anchor.

        Everything is compared relative to cycle and round, and what can no longer matter is left out; so
        equal states have equal futures. The anchor moves on, ever more rarely, while it does not come again.
        """
        if not self.renamer.between_instructions:
            return False
        if self._anchor_round != NONE and self._same_outline():
            self._record(self._state)
            if self._state.equals_other():
                return True
        if self.cycle >= self._next_anchor:
            self._anchor_round = self.reorder_buffer.key_rounds - 1
            self._next_anchor = self.cycle + self.cycle // 2
            self._record(self._anchor)
            self._draw_outline()
        return False

    def _draw_outline(self) -> None:
        """A few numbers that differ wherever the state as a whole is likely to."""
        self._outline[0] = self.queues.idq.count
        self._outline[1] = self.front_end.outline()
        self._outline[2] = self.reorder_buffer.entries.count
        self._outline[3] = self.entries.occupancy
        self._outline[4] = self.binding.outline()

    def _same_outline(self) -> bool:
        return (
            self._outline[0] == self.queues.idq.count
            and self._outline[1] == self.front_end.outline()
            and self._outline[2] == self.reorder_buffer.entries.count
            and self._outline[3] == self.entries.occupancy
            and self._outline[4] == self.binding.outline()
        )

    def _record(self, state: Record) -> None:
        """The whole state at the end of a round."""
        round_number = self.reorder_buffer.key_rounds - 1
        instance = round_number * self.program.instructions
        state.start(self.cycle, round_number, instance, self.columns.instance_uop0[instance])
        state.add(self.reorder_buffer.key_position[round_number])
        state.add(self.reorder_buffer.last_round - round_number)
        # What differs most often comes first: a comparison ends there.
        self.reorder_buffer.record(state)
        if not state.differs:
            self.binding.record(state)
            self.scheduler.record(state)
            self.front_end.record(state)
        if not state.differs:
            self.renamer.record(state)
        if not state.differs:
            self.memory.record(state)
            if self.resources.limited:
                self.resources.record(state)

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
            begin = self._anchor.cycle
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
        return columns.issued[columns.instance_uop0[round_number * self.program.instructions]]

    def rounds_retired(self, min_rounds: int, min_cycles: int) -> int:
        """Rounds of which a uop has retired when the full run ends (5.1). Where the run stopped because its
        state repeated, the times of the rounds to come are filled in."""
        reorder_buffer = self.reorder_buffer
        known = reorder_buffer.last_round + 1
        if self.period_cycles == 0:
            return known
        # The round in progress may have begun to retire, but the times of its end are not known yet.
        number = self._anchor_round + self.period_rounds + 1
        if number > known:
            number = known
        ahead = (min_cycles + 2) * self.period_rounds // self.period_cycles + self.period_rounds
        reorder_buffer.grow(number + max(ahead, min_rounds) + self.period_rounds + 1)
        while True:
            if number >= len(reorder_buffer.first_cycle):
                reorder_buffer.grow(2 * number)
            before = number - self.period_rounds
            reorder_buffer.first_cycle[number] = reorder_buffer.first_cycle[before] + self.period_cycles
            reorder_buffer.key_cycle[number] = reorder_buffer.key_cycle[before] + self.period_cycles
            reorder_buffer.key_position[number] = reorder_buffer.key_position[before]
            if number >= min_rounds:
                end = max(min_cycles + 1, reorder_buffer.first_cycle[min_rounds])
                if reorder_buffer.first_cycle[number] > end:
                    return number
            number += 1

    def tick(self) -> None:
        """One cycle, the stages in their order (uiCA model, 3.2)."""
        cycle = self.cycle
        self.visited += 1
        self.columns.reserve()
        self.columns.reserve_cycles(cycle + 1)
        self.reorder_buffer.reserve()
        if self.reorder_buffer.full() or self.entries.full():
            self.renamer.stand(cycle)
        else:
            self.renamer.tick(cycle)
        self.reorder_buffer.tick(cycle)
        if self.program.exact_memory:
            self.store_buffer.tick(cycle)
        self.scheduler.wake(cycle)
        self.binding.tick()
        self.scheduler.tick(cycle)
        self.front_end.tick(cycle)


def started(
    block: Block, microarchitecture: Microarchitecture, options: ModelOptions = PUBLISHED
) -> AnyPipeline:
    """A pipeline that is ready to run over the block: that of an earlier run, if there is one, because
    making the stages and their columns takes longer than a short run."""
    if not block.entries:
        raise ValueError("a block needs at least one instruction")
    pipeline: AnyPipeline | None = _SPARE.pop((id(microarchitecture), options), None)
    if pipeline is None:
        # Where every run has a microarchitecture of its own (a sweep), it gets at least used columns.
        oldest = _SPARE.pop(next(iter(_SPARE)), None) if len(_SPARE) >= _MOST_SPARE else None
        columns = Columns(Program()) if oldest is None else oldest.columns
        make = Pipeline if microarchitecture.macro_ops is None else MacroPipeline
        pipeline = make(microarchitecture, options, columns)
    pipeline.start(block)
    return pipeline


def release(pipeline: AnyPipeline) -> None:
    """The run is over; the pipeline waits for the next."""
    if pipeline.columns.short():
        _SPARE[id(pipeline.microarchitecture), pipeline.options] = pipeline


def simulate(
    block: Block,
    microarchitecture: Microarchitecture,
    *,
    min_rounds: int = 10,
    min_cycles: int = 500,
    options: ModelOptions = PUBLISHED,
    trace: bool = False,
    trace_rounds: int | None = None,
    details: bool = True,
    account: bool = False,
    cancel: Callable[[], bool] | None = None,
) -> Simulation:
    """Run the block for at least ``min_rounds`` iterations and ``min_cycles`` cycles.

    ``options`` says which variant of the model runs (``variant`` applies its part of them to the
    microarchitecture). ``details`` adds the figures per instruction, ``trace`` every event (with
    ``trace_rounds`` those of the first rounds alone, without causes), ``account`` what became of every issue
    slot, for which the run may go on. Raises Cancelled when ``cancel`` turns true,
    SimulationStuck when nothing retires any more, ValueError for an empty block.
    """
    pipeline = started(block, microarchitecture, options)
    full = trace or details or account
    pipeline.run(min_rounds, min_cycles, stop_at_period=not full, cancel=cancel)
    rounds = pipeline.reorder_buffer.last_round + 1
    if not full:
        rounds = pipeline.rounds_retired(min_rounds, min_cycles)
    window = pipeline.reorder_buffer.window(rounds)
    simulation = summarize(
        pipeline.columns,
        microarchitecture.units,
        window=window,
        cycles_per_round=pipeline.reorder_buffer.cycles_per_round(*window),
        period=(pipeline.period_cycles, pipeline.period_rounds) if pipeline.period_cycles else None,
        cycles=pipeline.cycle + 1,
        lsd_unroll=pipeline.front_end.lsd_unroll,
        trace=trace,
        trace_rounds=trace_rounds,
        details=details,
    )
    if account:
        simulation = replace(simulation, account=_account(pipeline, block, microarchitecture, cancel))
    release(pipeline)
    return simulation


def _account(
    pipeline: AnyPipeline,
    block: Block,
    microarchitecture: Microarchitecture,
    cancel: Callable[[], bool] | None,
) -> Account:
    begin, end, iterations = pipeline.settle(rounds_to_settle(block, microarchitecture), cancel=cancel)
    return account_of(pipeline.columns, microarchitecture, begin, end, iterations)


def rounds_to_settle(block: Block, microarchitecture: Microarchitecture) -> int:
    """Iterations after which uops are issued as fast as they retire, in the second half of them: enough to
    fill the reorder buffer four times."""
    uops = sum(len(template.fused_uops) for template in block.instructions)
    return max(10, ceil(_BUFFERS_FILLED * microarchitecture.reorder_buffer_size / max(1, uops)))
