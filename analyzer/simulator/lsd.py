"""The loop stream detector: whole rounds from the IDQ itself (N1 to N4; uiCA model, 3.7)."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.simulator.columns import Columns
from cyclelens.analyzer.simulator.layout import Layout


def lsd_unroll(columns: Columns, microarchitecture: Microarchitecture, layout: Layout) -> int:
    """Rounds that the LSD places in the IDQ at once; 0 if it does not serve this loop (N1, N2)."""
    program = columns.program
    if not (program.loop and microarchitecture.lsd_enabled and layout.all_cacheable):
        return 0
    if any(program.i_ms_uops) or any(program.i_rsp_change) or any(program.i_high8_written):
        return 0
    uops = sum(program.i_idq_count)
    if uops > microarchitecture.idq_size:
        return 0
    return microarchitecture.lsd_unroll.get(uops, 1)


class Lsd:
    """Refills an empty IDQ with the next rounds."""

    def __init__(self, columns: Columns, unroll: int) -> None:
        self._columns = columns
        self._program = columns.program
        self._unroll = unroll
        self._round = 0

    def tick(self, delivered: list[tuple[int, int]]) -> None:
        """Deliver the next rounds as (static IDQ uop, instance); to be called when the IDQ is empty."""
        program = self._program
        count = program.instructions
        end = (self._round + self._unroll) * count
        self._columns.generate(end)
        for instance in range(self._round * count, end):
            first = program.i_idq0[instance % count]
            for idq_uop in range(first, first + program.i_idq_count[instance % count]):
                delivered.append((idq_uop, instance))
        self._round += self._unroll
