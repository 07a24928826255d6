"""A core that counts macro-ops: its stages, in the order of a cycle."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.options import ModelOptions
from cyclelens.analyzer.model.uops import Block
from cyclelens.analyzer.simulator.back_end.age_scheduler import AgeScheduler, StoreCommit
from cyclelens.analyzer.simulator.back_end.emulator import Emulator
from cyclelens.analyzer.simulator.back_end.macro_renamer import MacroRenamer
from cyclelens.analyzer.simulator.back_end.one_page import LinesOfOnePage
from cyclelens.analyzer.simulator.back_end.reorder_buffer import ReorderBuffer
from cyclelens.analyzer.simulator.clock import Clock
from cyclelens.analyzer.simulator.front_end.op_cache import OpCache
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.in_flight import InFlight
from cyclelens.analyzer.simulator.tables.operations import Operations
from cyclelens.analyzer.simulator.tables.queues import Queues


class MacroPipeline(Clock):
    """The stages of one microarchitecture, for one run after the other."""

    def __init__(self, microarchitecture: Microarchitecture, options: ModelOptions, columns: Columns) -> None:
        queues = Queues(microarchitecture)
        super().__init__(columns, ReorderBuffer(columns, microarchitecture, queues))
        self.microarchitecture = microarchitecture
        self.options = options
        self.queues = queues
        self.flight = InFlight()
        self.operations = Operations(columns.program, microarchitecture)
        self.emulator = Emulator(columns, self.operations, options.assume, options.harness)
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

    def begin(self, block: Block, watched: bool) -> None:
        """Get ready for a run over a block; nothing of the run before remains. ``watched``: stages record why
        they refuse."""
        self.program.fill(block, self.microarchitecture, self.options)
        self.operations.fill(block)
        self.columns.start(watched)
        self.queues.start(self.program)
        self.flight.start()
        self.emulator.start()
        self.one_page.start()
        self.reorder_buffer.start()
        self.front_end.start()
        self.renamer.start()
        self.scheduler.start()
        self.start_clock()

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
