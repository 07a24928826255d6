"""What the picker asks of a rule by which units of a core hold each other back."""

from __future__ import annotations

from cyclelens.analyzer.simulator.tables.arrays import Record, SequenceQueues


class DispatchRule:
    """Names the units that may not take a uop in a cycle. Each core names the rule that it has, if any."""

    def start(self) -> None:
        """No uop was dispatched."""

    def held_back(self, ready: SequenceQueues) -> int:
        """The mask of units that take nothing in this cycle; ``ready`` are the ready uops by unit."""
        return 0

    def left(self, uop: int, unit: int) -> None:
        """A uop was dispatched to this unit."""

    def pass_by(self, cycles: int) -> None:
        """So many cycles are over."""

    def record(self, state: Record) -> None:
        """Its part of the pipeline's state."""
