"""The microcode sequencer: the uops of microcoded instructions beyond the decoded ones (uiCA model, 3.5)."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.simulator.tables.arrays import Record
from cyclelens.analyzer.simulator.tables.constants import LATE_MICROCODE, MICROCODE_SWITCH
from cyclelens.analyzer.simulator.tables.queues import MicrocodeQueue, Queues


class MicrocodeSequencer:
    """Four IDQ uops per cycle, with empty cycles around a switch."""

    def __init__(
        self, microarchitecture: Microarchitecture, queues: Queues, microcode: MicrocodeQueue
    ) -> None:
        self._delivered = queues.delivered
        self._shortage = queues.shortage
        self._microcode = microcode
        self._width = microarchitecture.ms_width

    def tick(self) -> None:
        """Simulate one busy cycle."""
        queue = self._microcode
        if queue.stall:
            # An empty cycle before the first of its uops or after the last.
            self._shortage.blame(MICROCODE_SWITCH, queue.instruction)
            queue.stall -= 1
            return
        end = min(queue.first + self._width, queue.end)
        for idq_uop in range(queue.first, end):
            self._delivered.push(idq_uop, queue.instance)
        queue.first = end
        if end < queue.end:
            self._shortage.note(LATE_MICROCODE)
        else:
            self._shortage.blame(MICROCODE_SWITCH, queue.instruction)
            queue.stall = queue.post_stall
            queue.post_stall = 0

    def record(self, state: Record) -> None:
        """Record this part of the pipeline's state."""
        queue = self._microcode
        state.add(queue.stall)
        state.add(queue.post_stall)
        if queue.first < queue.end:
            state.add(queue.first)
            state.add(queue.end)
            state.add(queue.instance - state.instance)
