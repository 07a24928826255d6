"""The pipeline of a core that counts uops: its stages in the order of a cycle."""

from __future__ import annotations

from cyclelens.analyzer.model.buffer import Buffer
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.options import ModelOptions
from cyclelens.analyzer.model.uops import Block
from cyclelens.analyzer.simulator import policies
from cyclelens.analyzer.simulator.back_end.binding import Binding
from cyclelens.analyzer.simulator.back_end.issue_group import IssueGroup
from cyclelens.analyzer.simulator.back_end.memory import Memory
from cyclelens.analyzer.simulator.back_end.picker import Picker
from cyclelens.analyzer.simulator.back_end.renamer import Renamer
from cyclelens.analyzer.simulator.back_end.reorder_buffer import ReorderBuffer
from cyclelens.analyzer.simulator.back_end.resources import Resources
from cyclelens.analyzer.simulator.back_end.scheduler import Scheduler
from cyclelens.analyzer.simulator.back_end.store_buffer import StoreBuffer
from cyclelens.analyzer.simulator.clock import Clock
from cyclelens.analyzer.simulator.front_end.front_end import FrontEnd
from cyclelens.analyzer.simulator.tables.arrays import Long, Record
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.entries import Entries
from cyclelens.analyzer.simulator.tables.queues import Queues


class UopPipeline(Clock):
    """The stages of one microarchitecture, for one run after another."""

    def __init__(self, microarchitecture: Microarchitecture, options: ModelOptions, columns: Columns) -> None:
        queues = Queues(microarchitecture)
        entries = Entries(columns, microarchitecture)
        memory = Memory(columns, options.assume, policies.lines_matter(microarchitecture))
        commit = policies.store_commit(columns, microarchitecture)
        super().__init__(columns, ReorderBuffer(columns, microarchitecture, queues, commit))
        self.microarchitecture = microarchitecture
        self.options = options
        self.queues = queues
        self.entries = entries
        self.memory = memory
        self.front_end: FrontEnd = policies.front_end(columns, microarchitecture, queues, options)
        self.resources = Resources(columns, microarchitecture, options)
        elimination = policies.elimination(columns, microarchitecture)
        self.renamer = Renamer(
            columns,
            microarchitecture,
            queues,
            memory,
            IssueGroup(columns, microarchitecture, queues, self.resources, entries),
            elimination,
            policies.addition(columns, microarchitecture),
            policies.memory_renaming(columns, microarchitecture),
        )
        self.binding: Binding = policies.binding(columns, microarchitecture, queues, entries, options)
        picker: Picker = policies.picker(columns, microarchitecture, entries, self.binding)
        self.scheduler = Scheduler(columns, microarchitecture, queues, picker)
        self.store_buffer = StoreBuffer(columns)

        self._stamped = options.limited or options.hardware
        """Whether its stages read when uops retire."""
        # The recorded state does not include the random generator.
        self._repeatable = options.port_seed is None

    def begin(self, block: Block, watched: bool, followed: bool) -> None:
        """Prepare a run over a block; nothing of the previous run remains. ``watched``: stages record why
        they refuse; ``followed``: they record where uops come from, when they retire, and the period."""
        program = self.program
        program.fill(block, self.microarchitecture, self.options)
        self.columns.start(watched, followed, self._stamped)
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
        self.start_clock(followed)

    def skip_to(self, following: int) -> None:
        """Skip the cycles up to the following one."""
        cycles = following - self.cycle - 1
        full: bool = self._full()
        self.scheduler.skip(cycles)
        self.columns.reserve_cycles(following)
        if self.columns.watched:
            self._watch(following, full)
        else:
            self.front_end.skip(cycles)
            if not full:
                self.renamer.pass_by(cycles)

    def _watch(self, following: int, full: bool) -> None:
        """Record what uops wait for in the cycles up to the following one."""
        for cycle in range(self.cycle + 1, following):
            if full:
                self.renamer.stand(cycle)
            else:
                self.renamer.tick(cycle)
            self.reorder_buffer.look(cycle)
            self.front_end.tick(cycle)

    def next_event(self) -> int:
        """The next cycle in which anything can happen: the next cycle, unless front end, issue and scheduler
        have to wait."""
        cycle = self.cycle
        if (
            self.queues.issued.count > 0
            or not self.scheduler.waits(cycle)
            or not (self._full() or self.queues.idq.count == 0 or self._held())
            or not self.binding.settled()
            or (self.program.exact_memory and not self.store_buffer.waits())
        ):
            return cycle + 1
        idle = self.front_end.idle()
        if idle == 0:
            return cycle + 1
        return self.next_of(min(cycle + 1 + idle, self.scheduler.next_event(cycle)))

    def _full(self) -> bool:
        """Whether no issue group is selected in the next cycle."""
        return self.reorder_buffer.full() or self.entries.full()

    def _held(self) -> bool:
        """Whether the next instruction waits for a retirement and there was none in this cycle."""
        return (
            self.renamer.held() and self.reorder_buffer.entries.count > 0 and self.reorder_buffer.retired == 0
        )

    def tick(self) -> None:
        """Simulate one cycle, with the stages in order (uiCA model, 3.2)."""
        cycle = self.cycle
        self.columns.reserve()
        self.columns.reserve_cycles(cycle + 1)
        self.reorder_buffer.reserve()
        if self._full():
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

    def buffers(self) -> tuple[Buffer, ...]:
        """The buffers that uops pass through, in order."""
        return (*self.front_end.buffers(), *self.entries.buffers(), self.reorder_buffer.buffer())

    def between_instructions(self) -> bool:
        """Whether the present state can be recorded."""
        return self._repeatable and self.renamer.between_instructions

    def outline(self) -> Long:
        """A hash of the state."""
        digest: Long = self.queues.idq.count
        digest = digest * 31 + self.front_end.outline()
        digest = digest * 31 + self.reorder_buffer.entries.count
        digest = digest * 31 + self.reorder_buffer.key_position[self.reorder_buffer.key_rounds - 1]
        digest = digest * 31 + self.entries.occupancy
        return digest * 31 + self.binding.outline()

    def record_stages(self, state: Record) -> None:
        """Record the state of the stages. Parts that differ most often come first, because a comparison ends
        there."""
        self.binding.record(state)
        if not state.differs:
            self.reorder_buffer.record(state)
        if not state.differs:
            self.scheduler.record(state)
            self.front_end.record(state)
        if not state.differs:
            self.renamer.record(state)
        if not state.differs:
            self.memory.record(state, self.reorder_buffer.entries)
            if self.program.exact_memory:
                self.store_buffer.record(state)
            if self.resources.limited:
                self.resources.record(state)
