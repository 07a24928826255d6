"""The queues between the stages; each is one edge of the pipeline."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.simulator.tables.arrays import PairQueue
from cyclelens.analyzer.simulator.tables.constants import CODE_LINE
from cyclelens.analyzer.simulator.tables.program import Program


class Queues:
    """All edges of one pipeline; a stage is given those it reads and writes."""

    def __init__(self, microarchitecture: Microarchitecture) -> None:
        self._queue_size = microarchitecture.instruction_queue_size
        self._idq_size = microarchitecture.idq_size
        self._issue_width = microarchitecture.issue_width
        self.blocks = PairQueue()
        """Code fetch to predecoder: 16-byte blocks as (first instance, end)."""
        self.lines = PairQueue()
        """Code fetch to DSB: (line number, round)."""
        self.instructions = PairQueue()
        """The IQ, predecoder to decoder: (instance, cycle in which it was predecoded)."""
        self.delivered = PairQueue()
        """Front end to IDQ within one cycle: (static IDQ uop, instance)."""
        self.idq = PairQueue()
        """The IDQ: (first uop, static IDQ uop)."""
        self.issued = PairQueue()
        """Renamer to ROB and scheduler within one cycle: (first uop, number of uops) of fused uops."""

    def start(self, program: Program) -> None:
        """Empty for a run of the program."""
        # Code fetch stops at four blocks and two lines, but takes whole rounds.
        self.blocks.start(4 * program.instructions + 16)
        self.lines.start(2 * program.instructions + 16)
        self.instructions.start(self._queue_size + 8)
        group = 0
        if program.simple_front_end:
            # It takes all that starts within 64 bytes, with a synchronisation for every instruction at most.
            group = (2 + CODE_LINE // program.size) * (program.idq_uops + program.instructions)
        self.delivered.start(2 * self._idq_size + program.idq_uops + group)
        self.idq.start(4 * self._idq_size + 2 * program.idq_uops + group)
        self.issued.start(self._issue_width + program.most_merges)


class MicrocodeQueue:
    """IDQ uops handed to the microcode sequencer, and the stalls around them in cycles."""

    def start(self) -> None:
        """Nothing to do."""
        self.first = 0
        self.end = 0
        self.instance = 0
        self.stall = 0
        self.post_stall = 0

    def hand_over(self, first: int, end: int, instance: int, stall: int, post_stall: int) -> None:
        """Give the sequencer the IDQ uops ``first`` .. ``end`` (possibly none) of an instance (MS1)."""
        self.first = first
        self.end = end
        self.instance = instance
        self.stall = stall
        self.post_stall = post_stall

    def busy(self) -> bool:
        """MS2."""
        return self.first < self.end or self.stall > 0
