"""What a run has to deliver."""

from __future__ import annotations

from msgspec import Struct


class RunRequest(Struct, frozen=True):
    """How long a block runs, and which results it produces."""

    min_rounds: int | None = None
    min_cycles: int | None = None
    """Minimum rounds and cycles of a run (5.1); None: those of the model's options."""
    details: bool = True
    """Figures per instruction."""
    trace: bool = False
    """Every event of the run."""
    trace_rounds: int | None = None
    """Trace only the first rounds, without causes."""
    every_cycle: bool = False
    """Simulate even the cycles in which nothing can happen, which are skipped otherwise."""
    account: bool = False
    """Use or loss of every issue slot; the run may be longer for it."""

    @property
    def is_full(self) -> bool:
        """Whether the run must not stop early at a repeating state."""
        return self.trace or self.details or self.account
