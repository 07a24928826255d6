"""Interface of the rule that limits how stores are written to the cache."""

from __future__ import annotations

from cyclelens.analyzer.simulator.tables.arrays import Record


class CommitRule:
    """Decides which stores may leave in the same cycle: at retirement, as a full store buffer would allow
    it, or from the simulated store queue on cores that have one. Each core names its rule, if any."""

    def start(self) -> None:
        """Reset: no store has left."""

    def next_cycle(self) -> None:
        """Begin a cycle."""

    def pass_by(self, cycles: int) -> None:
        """Skip this many cycles, in which no store could leave."""

    def may_leave(self, store: int) -> bool:
        """Whether the next store in program order leaves in this cycle; if so, it counts as gone."""
        return True

    def record(self, state: Record) -> None:
        """Record this part of the pipeline's state."""
