"""Interface of the rule by which the units of a core hold each other back."""

from __future__ import annotations

from cyclelens.analyzer.simulator.tables.arrays import Record, SequenceQueues


class DispatchRule:
    """Names the units that may not take a uop in a cycle. Each core names its rule, if any."""

    def start(self) -> None:
        """Reset: no uop was dispatched."""

    def held_back(self, ready: SequenceQueues) -> int:
        """Mask of the units that take nothing in this cycle. ``ready``: the ready uops by unit."""
        return 0

    def left(self, uop: int, unit: int) -> None:
        """Called when a uop was dispatched to this unit."""

    def pass_by(self, cycles: int) -> None:
        """Skip this many cycles."""

    def record(self, state: Record) -> None:
        """Record this part of the pipeline's state."""
