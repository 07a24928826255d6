"""What the scheduler asks of the rule by which ready uops leave for units."""

from __future__ import annotations

from cyclelens.analyzer.model.units import MOST_UNITS
from cyclelens.analyzer.simulator.tables.arrays import Record, ints
from cyclelens.analyzer.simulator.tables.constants import NEVER


class Picker:
    """Holds the ready uops; a core's rule says which of them leave in a cycle, and for which unit."""

    def __init__(self) -> None:
        self.dispatched = ints(MOST_UNITS)
        """The uops that left in the latest cycle."""
        self.count = 0
        self.asks_issued = 0
        """Cycles, from the first in which a uop may leave, in which it matters when that was issued."""

    def start(self, most: int) -> None:
        """No uop is ready; at most so many will be at a time."""

    def admit(self, first: int) -> None:
        """The uops of a list (``next_uop``) may leave from now on."""

    def tick(self, cycle: int) -> None:
        """Let uops leave: set ``dispatched`` and ``count``, the column ``dispatched``, where it was not done
        before the column ``port``, and free their places."""

    def next_event(self, cycle: int) -> int:
        """The next cycle in which anything but counters that run down happens in it if no other uop becomes
        ready; NEVER if that is not known."""
        return NEVER

    def skip(self, cycles: int) -> None:
        """So many cycles go by in which it waits."""

    def record(self, state: Record) -> None:
        """Its part of the pipeline's state; the uops themselves are the reorder buffer's part."""
