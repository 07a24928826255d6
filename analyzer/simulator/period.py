"""The period of a run: the state of the pipeline that comes again, after which everything does."""

from __future__ import annotations

from cyclelens.analyzer.simulator.back_end.binding import Binding
from cyclelens.analyzer.simulator.back_end.memory import Memory
from cyclelens.analyzer.simulator.back_end.renamer import Renamer
from cyclelens.analyzer.simulator.back_end.reorder_buffer import ReorderBuffer
from cyclelens.analyzer.simulator.back_end.resources import Resources
from cyclelens.analyzer.simulator.back_end.scheduler import Scheduler
from cyclelens.analyzer.simulator.front_end.front_end import FrontEnd
from cyclelens.analyzer.simulator.tables.arrays import Record, ints
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import NONE
from cyclelens.analyzer.simulator.tables.entries import Entries
from cyclelens.analyzer.simulator.tables.queues import Queues

_FIRST_ANCHOR = 24
_OUTLINE = 5


class Period:
    """Compares the states at the ends of rounds with one of them, the anchor.

    Everything is compared relative to cycle and round, and what can no longer matter is left out; so equal
    states have equal futures. The anchor moves on, ever more rarely, while it does not come again.
    """

    def __init__(
        self,
        columns: Columns,
        queues: Queues,
        entries: Entries,
        memory: Memory,
        resources: Resources,
        front_end: FrontEnd,
        renamer: Renamer,
        binding: Binding,
        scheduler: Scheduler,
        reorder_buffer: ReorderBuffer,
    ) -> None:
        self._columns = columns
        self._queues = queues
        self._entries = entries
        self._memory = memory
        self._resources = resources
        self._front_end: FrontEnd = front_end
        self._renamer = renamer
        self._binding: Binding = binding
        self._scheduler = scheduler
        self._reorder_buffer = reorder_buffer
        self._state = Record()
        self._anchor = Record()
        self._state.compare_with(self._anchor)
        self._outline = ints(_OUTLINE)

    def start(self) -> None:
        """There is no anchor."""
        self.round = NONE
        """The round at whose end the anchor's state was."""
        self._next_anchor = _FIRST_ANCHOR

    @property
    def begin(self) -> int:
        """The anchor's cycle."""
        return self._anchor.cycle

    def found(self, cycle: int) -> bool:
        """At the end of a round: whether the pipeline's state is the anchor's."""
        if not self._renamer.between_instructions:
            return False
        if self.round != NONE and self._same_outline():
            self._record(self._state, cycle)
            if self._state.equals_other():
                return True
        if cycle >= self._next_anchor:
            self.round = self._reorder_buffer.key_rounds - 1
            self._next_anchor = cycle + cycle // 2
            self._record(self._anchor, cycle)
            self._draw_outline()
        return False

    def _draw_outline(self) -> None:
        """A few numbers that differ wherever the state as a whole is likely to."""
        self._outline[0] = self._queues.idq.count
        self._outline[1] = self._front_end.outline()
        self._outline[2] = self._reorder_buffer.entries.count
        self._outline[3] = self._entries.occupancy
        self._outline[4] = self._binding.outline()

    def _same_outline(self) -> bool:
        return (
            self._outline[0] == self._queues.idq.count
            and self._outline[1] == self._front_end.outline()
            and self._outline[2] == self._reorder_buffer.entries.count
            and self._outline[3] == self._entries.occupancy
            and self._outline[4] == self._binding.outline()
        )

    def _record(self, state: Record, cycle: int) -> None:
        """The whole state at the end of a round."""
        round_number = self._reorder_buffer.key_rounds - 1
        instance = round_number * self._columns.program.instructions
        state.start(cycle, round_number, instance, self._columns.instance_uop0[instance])
        state.add(self._reorder_buffer.key_position[round_number])
        state.add(self._reorder_buffer.last_round - round_number)
        # What differs most often comes first: a comparison ends there.
        self._reorder_buffer.record(state)
        if not state.differs:
            self._binding.record(state)
            self._scheduler.record(state)
            self._front_end.record(state)
        if not state.differs:
            self._renamer.record(state)
        if not state.differs:
            self._memory.record(state)
            if self._resources.limited:
                self._resources.record(state)
