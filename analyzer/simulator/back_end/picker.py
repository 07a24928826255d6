"""Interface of the rule by which ready uops leave for units."""

from __future__ import annotations

from cyclelens.analyzer.model.units import MOST_UNITS
from cyclelens.analyzer.simulator.tables.arrays import Record, ints
from cyclelens.analyzer.simulator.tables.constants import NEVER


class Picker:
    """Holds the ready uops. The core's rule decides which of them leave in a cycle, and for which unit."""

    def __init__(self) -> None:
        self.dispatched = ints(MOST_UNITS)
        """The uops that left in the latest cycle."""
        self.count = 0
        self.asks_issued = 0
        """Number of cycles, counted from the first in which a uop may leave, in which its issue time
        matters."""

    def start(self, most: int) -> None:
        """Reset: no uop is ready. ``most``: largest number of ready uops at a time."""

    def admit(self, first: int) -> None:
        """The uops of a list (``next_uop``) may leave from now on."""

    def tick(self, cycle: int) -> None:
        """Let uops leave: set ``dispatched`` and ``count``, the column ``dispatched`` and, unless already
        set, the column ``port``, and free their places."""

    def next_event(self, cycle: int) -> int:
        """The next cycle in which anything but a countdown happens if no other uop becomes ready; NEVER if
        that is not known."""
        return NEVER

    def skip(self, cycles: int) -> None:
        """Skip this many waiting cycles."""

    def record(self, state: Record) -> None:
        """Record this part of the pipeline's state; the reorder buffer records the uops themselves."""
