"""Detects the period of a run: once the pipeline's state repeats, everything after it repeats."""

from __future__ import annotations

from cyclelens.analyzer.simulator.tables.arrays import Long, Record, ints
from cyclelens.analyzer.simulator.tables.constants import NONE

_FIRST_SHOWN = 24
_FIRST_LONE = 200
"""Cycles from which on a state becomes an anchor unconditionally: if the period is shown, and if not."""
_DIGEST = 0x7FFFFFFF
_OUTLINES = 64
"""Number of outlines kept; a power of two."""


class Repeating:
    """Interface of an object whose state may repeat."""

    def between_instructions(self) -> bool:
        """Whether the present state can be recorded."""
        return True

    def outline(self) -> Long:
        """A hash of the state."""
        return 0

    def record(self, state: Record) -> None:
        """Record the whole state at the end of a round."""


class Period:
    """Compares the states at the ends of rounds with a few earlier ones, the anchors.

    States are relative to cycle and round and omit what can no longer matter, so equal states have equal
    futures. While no anchor repeats, a new anchor replaces the oldest at growing intervals. So a state that
    came too early for one anchor is not too late for another, however long the period is.

    If a state repeats, its outline does too. If only the figure is wanted, which is the same for every
    period, an anchor is made when an outline repeats, so most runs need few. If the period is shown, the
    choice of period does not depend on outlines.
    """

    def __init__(self) -> None:
        self._state = Record()
        self._newest = Record()
        self._middle = Record()
        self._oldest = Record()
        self._anchor = self._newest
        """The anchor that repeated."""
        self._outlines = ints(_OUTLINES)
        """Some of the outlines so far."""

    def start(self, shown: bool) -> None:
        """Reset: there is no anchor. ``shown``: the caller reads more of the period than the figure."""
        self._shown = shown
        self._newest_outline = NONE
        self._middle_outline = NONE
        self._oldest_outline = NONE
        """The oldest outline of three anchors; there are only two if the period is shown."""
        for slot in range(_OUTLINES):
            self._outlines[slot] = NONE
        self._next_again = 0
        """Cycle from which on a repeated outline makes an anchor."""
        self._next_lone = _FIRST_SHOWN if shown else _FIRST_LONE
        """Cycle from which on an anchor is made unconditionally."""

    @property
    def begin(self) -> int:
        """The cycle of the anchor that repeated."""
        return self._anchor.cycle

    @property
    def round(self) -> int:
        """The round at whose end the anchor was recorded."""
        return self._anchor.round

    def found(self, pipeline: Repeating, cycle: int) -> bool:
        """At the end of a round: whether the pipeline's state equals an anchor."""
        if not pipeline.between_instructions():
            return False
        outline = self._digest(pipeline.outline())
        if outline == self._newest_outline and self._equals(self._newest, pipeline):
            return True
        if outline == self._middle_outline and self._equals(self._middle, pipeline):
            return True
        if outline == self._oldest_outline and self._equals(self._oldest, pipeline):
            return True
        again: bool = self._comes_again(outline)
        if cycle >= (self._next_again if again else self._next_lone):
            self._next_again = cycle + cycle * 3 // 10
            self._next_lone = cycle + cycle // 2 if self._shown else 2 * cycle
            self._anchor = self._oldest
            self._oldest = self._middle
            self._middle = self._newest
            self._newest = self._anchor
            if not self._shown:
                self._oldest_outline = self._middle_outline
            self._middle_outline = self._newest_outline
            self._newest_outline = outline
            pipeline.record(self._newest)
        return False

    def _digest(self, outline: Long) -> int:
        return outline & _DIGEST

    def _comes_again(self, outline: int) -> bool:
        """Insert the outline; true if it was present."""
        if self._shown:
            return False
        slot = outline & (_OUTLINES - 1)
        again: bool = self._outlines[slot] == outline
        self._outlines[slot] = outline
        return again

    def _equals(self, anchor: Record, pipeline: Repeating) -> bool:
        self._state.compare_with(anchor)
        pipeline.record(self._state)
        self._anchor = anchor
        return self._state.equals_other()
