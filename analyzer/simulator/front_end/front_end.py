"""What the clock asks of a front end, whatever it consists of."""

from __future__ import annotations

from cyclelens.analyzer.model.buffer import Buffer
from cyclelens.analyzer.simulator.tables.arrays import Record
from cyclelens.analyzer.simulator.tables.constants import NEVER


class FrontEnd:
    """Brings instructions from the code into the IDQ. Each core names the one that it has; this one brings
    none."""

    def __init__(self) -> None:
        self.lsd_unroll = 0
        """Rounds that enter the IDQ at once; 0 where rounds have no part in the delivery."""

    def start(self) -> None:
        """Get ready for a run over the program; the queues are empty."""

    def tick(self, cycle: int) -> None:
        """Bring into the IDQ what this cycle allows."""

    def idle(self) -> int:
        """Cycles to come in which nothing happens in it, but for counters that run down, if no uop leaves the
        IDQ."""
        return NEVER

    def skip(self, cycles: int) -> None:
        """So many of them go by."""

    def record(self, state: Record) -> None:
        """Its part of the pipeline's state, with the IDQ."""

    def outline(self) -> int:
        """A number that differs wherever the state is likely to."""
        return 0

    def buffers(self) -> tuple[Buffer, ...]:
        """Those that end with the IDQ, in order."""
        return ()

    def placement(self) -> bytes:
        """What a run depends on of where the code lies: blocks of the same instructions with the same answer
        run alike."""
        return b""
