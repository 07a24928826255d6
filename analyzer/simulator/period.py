"""The period of a run: the state of the pipeline that comes again, after which everything does."""

from __future__ import annotations

from cyclelens.analyzer.simulator.tables.arrays import Long, Record
from cyclelens.analyzer.simulator.tables.constants import NONE

_FIRST_ANCHOR = 24
_DIGEST = 0x7FFFFFFF


class Repeating:
    """What has states that may come again."""

    def between_instructions(self) -> bool:
        """Whether the state of the moment can be recorded."""
        return True

    def outline(self) -> Long:
        """A number that differs wherever the state as a whole is likely to."""
        return 0

    def record(self, state: Record) -> None:
        """The whole state at the end of a round."""


class Period:
    """Compares the states at the ends of rounds with two of them, the anchors.

    Everything is compared relative to cycle and round, and what can no longer matter is left out; so equal
    states have equal futures. Ever more rarely, while none of them comes again, a new anchor takes the place
    of the older one: what was too early for one is not too late for the other, however long the period is.
    """

    def __init__(self) -> None:
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

    def found(self, pipeline: Repeating, cycle: int) -> bool:
        """At the end of a round: whether the pipeline's state is that of an anchor."""
        if not pipeline.between_instructions():
            return False
        outline: Long = pipeline.outline() & _DIGEST
        if outline == self._newer_outline and self._equals(self._newer, pipeline):
            return True
        if outline == self._older_outline and self._equals(self._older, pipeline):
            return True
        if cycle >= self._next_anchor:
            self._next_anchor = cycle + cycle // 2
            self._anchor = self._older
            self._older = self._newer
            self._newer = self._anchor
            self._older_outline = self._newer_outline
            self._newer_outline = outline
            pipeline.record(self._newer)
        return False

    def _equals(self, anchor: Record, pipeline: Repeating) -> bool:
        self._state.compare_with(anchor)
        pipeline.record(self._state)
        self._anchor = anchor
        return self._state.equals_other()
