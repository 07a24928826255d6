"""What the renamer asks of the rule by which it carries out register moves itself."""

from __future__ import annotations

from cyclelens.analyzer.simulator.tables.arrays import Column, Long, Record


class Elimination:
    """Decides which moves need no unit, and follows the values that registers share for that. A core that
    names no rule has this one: all moves need one."""

    def __init__(self) -> None:
        self.members: Long = 0
        """Bits (``key_bit``) of the registers that share a value, as far as the rule follows them; perhaps of
        others, too."""

    def start(self) -> None:
        """Nothing is shared."""

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
        """So many cycles in which nothing is renamed."""
        for _ in range(cycles):
            self.start_cycle()
            self.decided()
            self.end_cycle()

    def record(self, state: Record, value: Column) -> None:
        """Its part of the pipeline's state; ``value`` is the renamer's column of current values."""
