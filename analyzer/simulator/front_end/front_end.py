"""Interface between the clock and the front end."""

from __future__ import annotations

from cyclelens.analyzer.model.buffer import Buffer
from cyclelens.analyzer.simulator.tables.arrays import Record
from cyclelens.analyzer.simulator.tables.constants import NEVER


class FrontEnd:
    """Brings instructions from the code into the IDQ. Each core names its front end; this base class
    delivers none."""

    def __init__(self) -> None:
        self.lsd_unroll = 0
        """Rounds that enter the IDQ at once; 0 if delivery does not depend on rounds."""

    def start(self) -> None:
        """Prepare a run over the program; the queues are empty."""

    def tick(self, cycle: int) -> None:
        """Deliver to the IDQ as much as this cycle allows."""

    def idle(self) -> int:
        """Number of cycles in which nothing but countdowns happens if no uop leaves the IDQ."""
        return NEVER

    def skip(self, cycles: int) -> None:
        """Skip this many of them."""

    def record(self, state: Record) -> None:
        """Record this part of the pipeline's state, with the IDQ."""

    def outline(self) -> int:
        """A hash of the state."""
        return 0

    def buffers(self) -> tuple[Buffer, ...]:
        """The buffers up to and including the IDQ, in order."""
        return ()

    def placement(self) -> bytes:
        """What a run depends on of the code's position: blocks of the same instructions with equal values
        run alike."""
        return b""
