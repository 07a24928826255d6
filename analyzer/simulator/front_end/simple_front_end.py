"""A front end without limits, for ablation studies: the IDQ never runs empty (uiCA model, 3.14)."""

from __future__ import annotations

from cyclelens.analyzer.model.buffer import Buffer
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.simulator.front_end.front_end import FrontEnd
from cyclelens.analyzer.simulator.front_end.stack_engine import StackEngine
from cyclelens.analyzer.simulator.tables.arrays import Record
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import CODE_LINE, NEVER, NO_SOURCE
from cyclelens.analyzer.simulator.tables.queues import Queues


class SimpleFrontEnd(FrontEnd):
    """Delivers groups of 64 bytes of unrolled code while the IDQ holds less than an issue group. The block
    must have been built for it: every uop is an IDQ uop of its own."""

    def __init__(self, columns: Columns, microarchitecture: Microarchitecture, queues: Queues) -> None:
        super().__init__()
        self._columns = columns
        self._program = columns.program
        self._delivered = queues.delivered
        self._idq = queues.idq
        self._stack_engine = StackEngine(columns, microarchitecture, queues)
        self._width = microarchitecture.issue_width
        self._idq_size = microarchitecture.idq_size

    def start(self) -> None:
        """Reset to the beginning of the code."""
        self._stack_engine.start()
        self._instance = 0
        """Next instance to deliver."""

    def idle(self) -> int:
        """NEVER while the IDQ holds an issue group."""
        return NEVER if self._rests() else 0

    def buffers(self) -> tuple[Buffer, ...]:
        """The IDQ."""
        return (Buffer("IDQ", self._idq_size, self._width - 1),)

    def record(self, state: Record) -> None:
        """Record this part of the pipeline's state, with the IDQ."""
        state.add(self._instance - state.instance)
        state.add(self._columns.address_of(self._instance) % CODE_LINE)
        self._stack_engine.record(state)

    def tick(self, cycle: int) -> None:
        """Deliver groups until there are enough uops for one cycle's issue."""
        while not self._rests():
            self._columns.reserve()
            self._deliver()
            self._stack_engine.tick(NO_SOURCE, cycle)

    def _rests(self) -> bool:
        return self._idq.count >= self._width

    def _deliver(self) -> None:
        columns = self._columns
        program = self._program
        line = columns.address_of(self._instance) // CODE_LINE
        end = self._instance
        while columns.address_of(end) // CODE_LINE == line:
            end += 1
        columns.generate(end)
        for instance in range(self._instance, end):
            i = instance % program.instructions
            for idq_uop in range(program.i_idq0[i], program.i_idq0[i] + program.i_idq_count[i]):
                self._delivered.push(idq_uop, instance)
        self._instance = end
