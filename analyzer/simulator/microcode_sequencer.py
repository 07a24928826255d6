"""The microcode sequencer: the uops of microcoded instructions beyond the decoded ones (uiCA model, 3.5)."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.simulator.queues import MicrocodeQueue


class MicrocodeSequencer:
    """Four IDQ uops a cycle, with empty cycles around a switch."""

    def __init__(self, microarchitecture: Microarchitecture, queue: MicrocodeQueue) -> None:
        self._queue = queue
        self._width = microarchitecture.ms_width

    def tick(self, delivered: list[tuple[int, int]]) -> None:
        """One busy cycle; IDQ uops go to ``delivered`` as (static IDQ uop, instance)."""
        queue = self._queue
        if queue.stall:
            queue.stall -= 1
            return
        end = min(queue.first + self._width, queue.end)
        delivered.extend((idq_uop, queue.instance) for idq_uop in range(queue.first, end))
        queue.first = end
        if end == queue.end:
            queue.stall = queue.post_stall
            queue.post_stall = 0
