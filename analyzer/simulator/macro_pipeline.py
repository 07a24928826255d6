"""The clock of a core that counts macro-ops: its stages, in the order of a cycle."""

from __future__ import annotations

from collections.abc import Callable

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.options import ModelOptions
from cyclelens.analyzer.model.uops import Block
from cyclelens.analyzer.simulator.back_end.age_scheduler import AgeScheduler, StoreCommit
from cyclelens.analyzer.simulator.back_end.emulator import Emulator
from cyclelens.analyzer.simulator.back_end.macro_renamer import MacroRenamer
from cyclelens.analyzer.simulator.back_end.one_page import LinesOfOnePage
from cyclelens.analyzer.simulator.back_end.reorder_buffer import ReorderBuffer
from cyclelens.analyzer.simulator.failures import Cancelled, SimulationStuck
from cyclelens.analyzer.simulator.front_end.op_cache import OpCache
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.in_flight import InFlight
from cyclelens.analyzer.simulator.tables.operations import Operations
from cyclelens.analyzer.simulator.tables.queues import Queues

_CANCEL_INTERVAL = 64
_STUCK_CYCLES = 100_000


class MacroPipeline:
    """The stages of one microarchitecture, for one run after the other."""

    def __init__(self, microarchitecture: Microarchitecture, options: ModelOptions, columns: Columns) -> None:
        self.microarchitecture = microarchitecture
        self.options = options
        self.columns = columns
        self.program = columns.program
        self.queues = Queues(microarchitecture)
        self.flight = InFlight()
        self.operations = Operations(columns.program, microarchitecture)
        self.emulator = Emulator(columns, self.operations, options.assume, options.harness)
        self.reorder_buffer = ReorderBuffer(columns, microarchitecture, self.queues)
        self.front_end = OpCache(columns, microarchitecture, self.queues, self.operations, self.flight)
        assert microarchitecture.macro_ops is not None
        self.one_page = LinesOfOnePage(
            columns,
            self.flight,
            microarchitecture.macro_ops.one_page,
            active=options.harness == "one-page",
        )
        self.renamer = MacroRenamer(
            columns,
            microarchitecture,
            self.queues,
            self.operations,
            self.emulator,
            self.flight,
            self.one_page,
            self.reorder_buffer.entries,
        )
        self.scheduler = AgeScheduler(columns, microarchitecture, self.operations, self.flight)
        self.commit = StoreCommit(columns, microarchitecture, self.flight)
        self.period_cycles = 0
        self.period_rounds = 0

    def start(self, block: Block) -> None:
        """Get ready for a run over a block; nothing of the run before remains."""
        self.program.fill(block, self.microarchitecture, self.options)
        self.operations.fill(block)
        self.columns.start()
        self.queues.start(self.program)
        self.flight.start()
        self.emulator.start()
        self.one_page.start()
        self.reorder_buffer.start()
        self.front_end.start()
        self.renamer.start()
        self.scheduler.start()
        self.cycle = 0

    def run(
        self,
        min_rounds: int,
        min_cycles: int,
        *,
        stop_at_period: bool = False,
        cancel: Callable[[], bool] | None = None,
    ) -> None:
        """Clock until ``min_rounds`` have passed and more than ``min_cycles`` cycles."""
        reorder_buffer = self.reorder_buffer
        progress = self.cycle
        round_number = reorder_buffer.last_round
        while True:
            self.tick()
            if reorder_buffer.last_round >= min_rounds and self.cycle > min_cycles:
                break
            if cancel is not None and self.cycle % _CANCEL_INTERVAL == 0 and cancel():
                raise Cancelled
            if reorder_buffer.last_round != round_number:
                progress = self.cycle
                round_number = reorder_buffer.last_round
            elif self.cycle - progress > _STUCK_CYCLES:
                raise SimulationStuck(f"no iteration retires in {_STUCK_CYCLES} cycles")
            self.cycle += 1

    def tick(self) -> None:
        """One cycle."""
        cycle = self.cycle
        self.columns.reserve()
        self.columns.reserve_cycles(cycle + 1)
        self.reorder_buffer.reserve()
        self.reorder_buffer.tick(cycle)
        self.commit.tick(cycle)
        self.scheduler.tick(cycle)
        self.renamer.tick(cycle)
        self.front_end.tick(cycle)

    def settle(self, rounds: int, *, cancel: Callable[[], bool] | None = None) -> tuple[int, int, int]:
        """Clock on until so many rounds have retired; the second half of them counts. Returns the cycle
        behind which macro-ops are dispatched as fast as they retire, a later one, and the rounds between
        them. All that was dispatched by then has retired."""
        if self.reorder_buffer.last_round < rounds:
            self.cycle += 1
            self.run(rounds, 0, cancel=cancel)
        last = self.reorder_buffer.last_round
        first = last // 2
        begin = self._dispatch_of_round(first) - 1
        end = self._dispatch_of_round(last) - 1
        entries = self.reorder_buffer.entries
        while entries.count > 0 and self.columns.issued[entries.firsts[entries.head]] <= end:
            self.cycle += 1
            self.tick()
        return begin, end, last - first

    def _dispatch_of_round(self, round_number: int) -> int:
        """The cycle in which the first macro-op of a round was dispatched."""
        columns = self.columns
        instance = round_number * self.program.instructions + self.program.first_instruction
        return columns.issued[columns.instance_uop0[instance]]

    def rounds_retired(self, min_rounds: int, min_cycles: int) -> int:
        """Rounds of which a uop has retired."""
        return self.reorder_buffer.last_round + 1
