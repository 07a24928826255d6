"""What the reorder buffer asks of the rule by which stores go to the cache."""

from __future__ import annotations

from cyclelens.analyzer.simulator.tables.arrays import Record


class CommitRule:
    """Says which stores may retire together, as a store buffer that is full would. Each core names the rule
    that it has, if any."""

    def start(self) -> None:
        """No store has retired."""

    def next_cycle(self) -> None:
        """A cycle begins."""

    def may_retire(self, store: int) -> bool:
        """Whether the next store, in program order, retires in this cycle; it then counts as retired."""
        return True

    def record(self, state: Record) -> None:
        """Its part of the pipeline's state."""
