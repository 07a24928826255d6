"""What a run is asked for."""

from __future__ import annotations

from msgspec import Struct


class Wanted(Struct, frozen=True):
    """How long a block is to run, and what that is to show."""

    min_rounds: int = 10
    min_cycles: int = 500
    """Of the published model (5.1), both."""
    details: bool = True
    """The figures of each instruction."""
    trace: bool = False
    """Every event."""
    trace_rounds: int | None = None
    """The trace is about the first rounds alone, then without causes."""
    account: bool = False
    """What became of every issue slot, for which the run may go on."""

    @property
    def is_full(self) -> bool:
        """A run that ends where its state comes again would not show all of it."""
        return self.trace or self.details or self.account
