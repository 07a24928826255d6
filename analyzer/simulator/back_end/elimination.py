"""Interface of the rule by which the renamer eliminates register moves."""

from __future__ import annotations

from cyclelens.analyzer.simulator.tables.arrays import Column, Long, Record


class Elimination:
    """Decides which moves need no unit, and tracks the values that registers share as a result. This base
    class eliminates none; cores without a rule use it."""

    def __init__(self) -> None:
        self.members: Long = 0
        """Bits (``key_bit``) of the registers that share a value, as far as the rule tracks them; may
        contain others."""

    def start(self) -> None:
        """Reset: no value is shared."""

    def start_cycle(self) -> None:
        """The renamer begins a cycle."""

    def decide(self, register_class: int) -> bool:
        """Whether the next move of this class in the cycle is eliminated."""
        return False

    def decided(self) -> None:
        """All decisions of the cycle are made."""

    def share(self, value: int, source: int, target: int) -> None:
        """An eliminated move makes two registers hold one value."""

    def overwrite(self, value: int, key: int) -> None:
        """A register no longer holds the value."""

    def end_cycle(self) -> None:
        """The renamer ends a cycle."""

    def pass_by(self, cycles: int) -> None:
        """Skip this many cycles, in which nothing is renamed."""
        for _ in range(cycles):
            self.start_cycle()
            self.decided()
            self.end_cycle()

    def record(self, state: Record, value: Column) -> None:
        """Record this part of the pipeline's state. ``value``: the renamer's column of current values."""
