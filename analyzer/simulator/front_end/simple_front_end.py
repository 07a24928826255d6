"""A front end without limits, for ablation studies: the IDQ never runs dry (uiCA model, 3.14)."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import CODE_LINE
from cyclelens.analyzer.simulator.tables.queues import Queues


class SimpleFrontEnd:
    """Delivers groups of 64 bytes of unrolled code as long as the IDQ holds less than an issue group. The
    block must have been built for it: every uop is an IDQ uop of its own."""

    def __init__(self, columns: Columns, microarchitecture: Microarchitecture, queues: Queues) -> None:
        self._columns = columns
        self._program = columns.program
        self._delivered = queues.delivered
        self._width = microarchitecture.issue_width

    def start(self) -> None:
        """At the beginning of the code."""
        self.instance = 0
        """Next instance to deliver."""

    def wanted(self, idq_uops: int) -> bool:
        """Whether another group is needed."""
        return idq_uops < self._width

    def tick(self) -> None:
        """Deliver the next group."""
        columns = self._columns
        program = self._program
        line = columns.address_of(self.instance) // CODE_LINE
        end = self.instance
        while columns.address_of(end) // CODE_LINE == line:
            end += 1
        columns.generate(end)
        for instance in range(self.instance, end):
            i = instance % program.instructions
            for idq_uop in range(program.i_idq0[i], program.i_idq0[i] + program.i_idq_count[i]):
                self._delivered.push(idq_uop, instance)
        self.instance = end
