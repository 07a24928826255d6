"""The period of a run: the state of the pipeline that comes again, after which everything does."""

from __future__ import annotations

from cyclelens.analyzer.simulator.back_end.binding import Binding
from cyclelens.analyzer.simulator.back_end.memory import Memory
from cyclelens.analyzer.simulator.back_end.renamer import Renamer
from cyclelens.analyzer.simulator.back_end.reorder_buffer import ReorderBuffer
from cyclelens.analyzer.simulator.back_end.resources import Resources
from cyclelens.analyzer.simulator.back_end.scheduler import Scheduler
from cyclelens.analyzer.simulator.front_end.front_end import FrontEnd
from cyclelens.analyzer.simulator.tables.arrays import Long, Record
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import NONE
from cyclelens.analyzer.simulator.tables.entries import Entries
from cyclelens.analyzer.simulator.tables.queues import Queues

_FIRST_ANCHOR = 24
_DIGEST = 0x7FFFFFFF


class Period:
    """Compares the states at the ends of rounds with two of them, the anchors.

    Everything is compared relative to cycle and round, and what can no longer matter is left out; so equal
    states have equal futures. Ever more rarely, while none of them comes again, a new anchor takes the place
    of the older one: what was too early for one is not too late for the other, however long the period is.
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
        self._newer = Record()
        self._older = Record()
        self._anchor = self._newer
        """The one that came again."""

    def start(self) -> None:
        """There is no anchor."""
        self._newer.start(NONE, NONE, 0, 0)
        self._older.start(NONE, NONE, 0, 0)
        self._newer_outline: Long = NONE
        self._older_outline: Long = NONE
        self._next_anchor = _FIRST_ANCHOR

    @property
    def begin(self) -> int:
        """The cycle of the anchor that came again."""
        return self._anchor.cycle

    @property
    def round(self) -> int:
        """The round at whose end its state was."""
        return self._anchor.round

    def found(self, cycle: int) -> bool:
        """At the end of a round: whether the pipeline's state is that of an anchor."""
        if not self._renamer.between_instructions:
            return False
        outline = self._outline()
        if outline == self._newer_outline and self._equals(self._newer, cycle):
            return True
        if outline == self._older_outline and self._equals(self._older, cycle):
            return True
        if cycle >= self._next_anchor:
            self._next_anchor = cycle + cycle // 2
            self._anchor = self._older
            self._older = self._newer
            self._newer = self._anchor
            self._older_outline = self._newer_outline
            self._newer_outline = outline
            self._record(self._newer, cycle)
        return False

    def _equals(self, anchor: Record, cycle: int) -> bool:
        self._state.compare_with(anchor)
        self._record(self._state, cycle)
        self._anchor = anchor
        return self._state.equals_other()

    def _outline(self) -> Long:
        """A number, not negative, that differs wherever the state as a whole is likely to."""
        digest: Long = self._queues.idq.count
        digest = (digest * 31 + self._front_end.outline()) & _DIGEST
        digest = (digest * 31 + self._reorder_buffer.entries.count) & _DIGEST
        digest = (digest * 31 + self._entries.occupancy) & _DIGEST
        return (digest * 31 + self._binding.outline()) & _DIGEST

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
