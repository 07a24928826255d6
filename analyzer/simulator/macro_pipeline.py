"""The pipeline of a core that counts macro-ops: its stages in the order of a cycle."""

from __future__ import annotations

from cyclelens.analyzer.model.buffer import Buffer
from cyclelens.analyzer.model.choices import MeasuredIn
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.options import ModelOptions
from cyclelens.analyzer.model.uops import Block
from cyclelens.analyzer.simulator import policies
from cyclelens.analyzer.simulator.back_end.emulator import Emulator
from cyclelens.analyzer.simulator.back_end.macro_memory import MacroMemory
from cyclelens.analyzer.simulator.back_end.macro_renamer import MacroRenamer
from cyclelens.analyzer.simulator.back_end.macro_scheduler import MacroScheduler
from cyclelens.analyzer.simulator.back_end.one_page import LinesOfOnePage
from cyclelens.analyzer.simulator.back_end.reorder_buffer import ReorderBuffer
from cyclelens.analyzer.simulator.back_end.store_queue import StoreQueue
from cyclelens.analyzer.simulator.clock import Clock
from cyclelens.analyzer.simulator.front_end.front_end import FrontEnd
from cyclelens.analyzer.simulator.replay import Replay
from cyclelens.analyzer.simulator.tables.arrays import Long, Record
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.in_flight import InFlight
from cyclelens.analyzer.simulator.tables.macro_tables import MacroTables
from cyclelens.analyzer.simulator.tables.operations import Operations
from cyclelens.analyzer.simulator.tables.queues import Queues


class MacroPipeline(Clock):
    """The stages of one microarchitecture, for one run after another."""

    def __init__(self, microarchitecture: Microarchitecture, options: ModelOptions, columns: Columns) -> None:
        queues = Queues(microarchitecture)
        super().__init__(columns, ReorderBuffer(columns, microarchitecture, queues))
        self.microarchitecture = microarchitecture
        self.options = options
        self.queues = queues
        self.flight = InFlight()
        self.operations = Operations(columns.program, microarchitecture)
        self.emulator = Emulator(columns, self.operations, options.assume, options.harness)
        self.front_end: FrontEnd = policies.macro_front_end(
            columns, microarchitecture, queues, self.operations, self.flight
        )
        assert microarchitecture.macro_ops is not None
        self.one_page = LinesOfOnePage(
            columns,
            self.flight,
            microarchitecture.macro_ops.one_page,
            active=options.harness is MeasuredIn.ONE_PAGE,
        )
        tables = MacroTables(columns, queues, self.operations, self.flight)
        memory = MacroMemory(
            tables,
            microarchitecture,
            self.emulator,
            self.one_page,
            policies.load_renaming(columns, microarchitecture, self.operations, self.flight),
        )
        self.renamer = MacroRenamer(
            tables,
            microarchitecture,
            memory,
            policies.elimination(columns, microarchitecture),
            policies.scheduler_choice(columns, microarchitecture, queues, self.flight, options),
            policies.late_operands(columns, microarchitecture, self.operations, self.flight),
        )
        self.scheduler = MacroScheduler(
            columns,
            microarchitecture,
            self.operations,
            self.flight,
            policies.macro_picker(columns, microarchitecture, self.operations, self.flight),
        )
        self.commit = StoreQueue(
            columns,
            microarchitecture,
            self.flight,
            policies.macro_store_commit(columns, microarchitecture, self.flight),
        )
        self.replay = Replay(columns, microarchitecture, self.operations, memory, options)

    def begin(self, block: Block, watched: bool, followed: bool) -> None:
        """Prepare a run over a block; nothing of the previous run remains. ``watched``: stages record why
        they refuse; ``followed``: they record where uops come from, when they retire, and the period."""
        self.program.fill(block, self.microarchitecture, self.options)
        self.operations.fill(block)
        self.emulator.follow()
        self.columns.start(watched, followed, True)
        self.queues.start(self.program)
        self.flight.start()
        self.emulator.start()
        self.one_page.start()
        self.reorder_buffer.start()
        self.front_end.start()
        self.renamer.start()
        self.scheduler.start()
        self.commit.start()
        self.replay.start()
        self.start_clock(followed)

    def skip_to(self, following: int) -> None:
        """Skip the cycles up to the following one."""
        cycles = following - self.cycle - 1
        self.columns.reserve_cycles(following)
        self.commit.skip(cycles)
        if self.columns.watched:
            for cycle in range(self.cycle + 1, following):
                self.reorder_buffer.look(cycle)
                self.renamer.tick(cycle)
                self.front_end.tick(cycle)
        else:
            self.renamer.pass_by(cycles)
            self.front_end.skip(cycles)

    def next_event(self) -> int:
        """The next cycle in which anything can happen: the next cycle, unless all stages have to wait."""
        cycle = self.cycle
        if (
            self.queues.issued.count > 0
            or self.flight.fresh.count > 0
            or not self.scheduler.waits(cycle)
            or not self.renamer.waits()
            or not self.commit.waits()
        ):
            return cycle + 1
        idle = self.front_end.idle()
        if idle == 0:
            return cycle + 1
        return self.next_of(min(cycle + 1 + idle, self.scheduler.next_event(cycle)))

    def tick(self) -> None:
        """Simulate one cycle."""
        cycle = self.cycle
        self.columns.reserve()
        self.columns.reserve_cycles(cycle + 1)
        self.reorder_buffer.reserve()
        self.reorder_buffer.tick(cycle)
        self.commit.tick(cycle)
        self.least_cycles = self.commit.least_cycles
        self.scheduler.tick(cycle)
        self.renamer.tick(cycle)
        self.front_end.tick(cycle)

    def buffers(self) -> tuple[Buffer, ...]:
        """The buffers that uops pass through, in order."""
        return (*self.front_end.buffers(), *self.renamer.buffers())

    def between_instructions(self) -> bool:
        """Whether the present state can be recorded. The pages through which lines were read
        are not part of it. A run that has to fill the store queue first does not look for a period."""
        return not self.one_page.active and self.replay.tries > 0 and self.least_cycles == 0

    def outline(self) -> Long:
        """A hash of the state."""
        digest: Long = self.queues.idq.count
        digest = digest * 31 + self.reorder_buffer.entries.count
        digest = digest * 31 + self.columns.stores - self.flight.oldest_store
        return digest * 31 + self.front_end.outline()

    def record_stages(self, state: Record) -> None:
        """Record the state of the stages. Parts that differ most often come first, because a comparison ends
        there."""
        self.front_end.record(state)
        self.commit.record(state)
        entries = self.reorder_buffer.entries
        state.add(entries.count)
        state.add(self.queues.issued.count)
        state.add(self.queues.idq.count)
        end = self._renamed()
        first = entries.firsts[entries.head] if entries.count > 0 else end
        if entries.count == 0 and self.queues.issued.count > 0:
            first = self.queues.issued.firsts[self.queues.issued.head]
        state.add(first - state.uop)
        state.add(end - state.uop)
        if not state.differs:
            self.scheduler.record(state, first, end)
        if not state.differs:
            self.renamer.record(state)

    def _renamed(self) -> int:
        """The uop to be renamed next."""
        idq = self.queues.idq
        return idq.firsts[idq.head] if idq.count > 0 else self.columns.uops

    def stays(self, rounds: int, periods: int) -> bool:
        """Whether periods of this many rounds follow. Addresses change from round to round and are not in
        the state, so the pattern of overlapping accesses has to repeat as well."""
        uop = self._renamed()
        instance = self.columns.instance[uop] if uop < self.columns.uops else self.columns.instances
        return self.replay.repeats(instance, rounds, periods)
