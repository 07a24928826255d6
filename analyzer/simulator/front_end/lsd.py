"""The loop stream detector: replays whole rounds from the IDQ (N1 to N4; uiCA model, 3.7)."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.simulator.tables.arrays import Record, ints
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import LATE_LSD
from cyclelens.analyzer.simulator.tables.layout import Layout
from cyclelens.analyzer.simulator.tables.queues import Queues


class Lsd:
    """Refills an empty IDQ with the next rounds."""

    def __init__(
        self, columns: Columns, microarchitecture: Microarchitecture, layout: Layout, queues: Queues
    ) -> None:
        self._columns = columns
        self._program = columns.program
        self._layout = layout
        self._delivered = queues.delivered
        self._shortage = queues.shortage
        self._enabled = microarchitecture.lsd_enabled
        self._idq_size = microarchitecture.idq_size
        self._unroll = ints(self._idq_size + 1)
        """Rounds per batch, by the number of IDQ uops in a round."""
        for uops in range(1, self._idq_size + 1):
            self._unroll[uops] = microarchitecture.lsd_unroll.get(uops, 1)
        self.round = 0
        self.unroll = 0
        """Rounds that are placed in the IDQ at once; 0 if the LSD does not serve this loop."""

    def start(self) -> None:
        """Reset: find out whether it serves the program."""
        self.round = 0
        self.unroll = 0
        if self._enabled and self._layout.all_cacheable and self._program.loop:
            uops = self._uops()
            if 0 < uops <= self._idq_size:
                self.unroll = self._unroll[uops]

    def _uops(self) -> int:
        """IDQ uops of a round, 0 if some instruction keeps the loop out of the LSD (N1)."""
        program = self._program
        uops = 0
        for i in range(program.instructions):
            if program.i_ms_uops[i] or program.i_rsp_change[i] or program.i_high8_written[i]:
                return 0
            uops += program.i_idq_count[i]
        return uops

    def record(self, state: Record) -> None:
        """Record this part of the pipeline's state."""
        state.add(self.round - state.round)

    def tick(self) -> None:
        """Deliver the next rounds. Call it only when the IDQ is empty."""
        program = self._program
        count = program.instructions
        end = (self.round + self.unroll) * count
        self._columns.generate(end)
        first = self.round * count
        for _ in range(self.unroll):
            for i in range(count):
                for idq_uop in range(program.i_idq0[i], program.i_idq0[i] + program.i_idq_count[i]):
                    self._delivered.push(idq_uop, first + i)
            first += count
        self.round += self.unroll
        self._shortage.note(LATE_LSD)
