"""What reorder buffer and store queue ask of the rule by which stores go to the cache."""

from __future__ import annotations

from cyclelens.analyzer.simulator.tables.arrays import Record


class CommitRule:
    """Says which stores may leave together: as they retire, as a store buffer that is full would let them, or
    for the cache where a store queue is simulated. Each core names the rule that it has, if any."""

    def start(self) -> None:
        """No store has left."""

    def next_cycle(self) -> None:
        """A cycle begins."""

    def pass_by(self, cycles: int) -> None:
        """So many cycles are over in which no store could leave."""

    def may_leave(self, store: int) -> bool:
        """Whether the next store, in program order, leaves in this cycle; it then counts as gone."""
        return True

    def record(self, state: Record) -> None:
        """Its part of the pipeline's state."""
