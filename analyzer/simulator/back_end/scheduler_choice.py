"""Interface of the rule that assigns uops to schedulers, on a core that counts macro-ops."""

from __future__ import annotations

from cyclelens.analyzer.model.buffer import Buffer
from cyclelens.analyzer.simulator.tables.arrays import Record


class SchedulerChoice:
    """Chooses at dispatch the scheduler in which a uop waits, and so the units that it may take. Each core
    that counts macro-ops names its rule."""

    def start(self) -> None:
        """Reset: all schedulers are empty."""

    def have_room(self, mask: int, uops: int) -> bool:
        """Whether a scheduler that feeds some of these units has room for this many uops."""
        return True

    def enter(self, uop: int, mask: int) -> None:
        """Put a renamed uop that needs one of these units into a scheduler: set ``u_scheduler`` and
        ``u_units`` of ``InFlight``, and count it there."""

    def refuse(self, cycle: int, mask: int) -> None:
        """Record that slots stay empty because the schedulers of these units are full."""

    def buffers(self) -> tuple[Buffer, ...]:
        """All schedulers."""
        return ()

    def record(self, state: Record) -> None:
        """Record this part of the pipeline's state."""
