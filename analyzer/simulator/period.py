"""The period of a run: the state of the pipeline that comes again, after which everything does."""

from __future__ import annotations

from cyclelens.analyzer.simulator.tables.arrays import Long, Record, ints
from cyclelens.analyzer.simulator.tables.constants import NONE

_FIRST_SHOWN = 24
_FIRST_LONE = 200
"""Cycles from which on a state becomes an anchor in any case: where the period is shown, and where not."""
_DIGEST = 0x7FFFFFFF
_OUTLINES = 64
"""A power of two."""


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
    """Compares the states at the ends of rounds with some of them, the anchors.

    Everything is compared relative to cycle and round, and what can no longer matter is left out; so equal
    states have equal futures. Ever more rarely, while none of them comes again, a new anchor takes the place
    of the oldest: what was too early for one is not too late for another, however long the period is.

    A state that comes again has an outline that does. Where nothing but the figure is wanted, which is the
    same for every period, an anchor is made where an outline has come again, so most runs need few. Which
    period is found where it is shown does not depend on outlines.
    """

    def __init__(self) -> None:
        self._state = Record()
        self._newest = Record()
        self._middle = Record()
        self._oldest = Record()
        self._anchor = self._newest
        """The one that came again."""
        self._outlines = ints(_OUTLINES)
        """Some of the outlines so far."""

    def start(self, shown: bool) -> None:
        """There is no anchor. ``shown``: somebody reads more of the period than what follows from it."""
        self._shown = shown
        self._newest_outline = NONE
        self._middle_outline = NONE
        self._oldest_outline = NONE
        """Of three anchors; there are only two where the period is shown."""
        for slot in range(_OUTLINES):
            self._outlines[slot] = NONE
        self._next_again = 0
        """Cycle from which on an anchor is made where an outline comes again."""
        self._next_lone = _FIRST_SHOWN if shown else _FIRST_LONE
        """Cycle from which on one is made in any case."""

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
        """Whether an outline is among those that are remembered, which it is from now on."""
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
