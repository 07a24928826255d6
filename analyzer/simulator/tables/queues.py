"""The queues between the stages; each is one edge of the pipeline."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.simulator.tables.arrays import PairQueue, ints
from cyclelens.analyzer.simulator.tables.constants import CODE_LINE, LCP, NONE, PREDECODER
from cyclelens.analyzer.simulator.tables.program import Program

_STALLS = 16
"""More than the cycles from predecoder to decoder."""


class Queues:
    """All edges of one pipeline; a stage receives those it reads and writes."""

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
        """Renamer to ROB within one cycle: (first uop, number of uops) of fused uops."""
        self.bound = PairQueue()
        """The issued uops that need a unit, renamer to binding and scheduler: (uop, issue slot)."""
        self.free = PairQueue()
        """The bound uops whose inputs are all known, renamer to scheduler: the same pairs."""
        self.rob = PairQueue()
        """Contents of the ROB, oldest first: the same pairs as ``issued``. Only the ROB adds pairs; other
        stages read."""
        self.shortage = Shortage()
        """Front end to renamer: why the IDQ has no more uops."""

    def start(self, program: Program) -> None:
        """Reset to empty for a run of the program."""
        # Code fetch stops at four blocks and two lines, but takes whole rounds.
        self.blocks.start(4 * program.instructions + 16)
        self.lines.start(2 * program.instructions + 16)
        self.instructions.start(self._queue_size + 8)
        group = 0
        if program.simple_front_end:
            # It takes all that starts within 64 bytes, with at most one synchronisation per instruction.
            group = (2 + CODE_LINE // program.size) * (program.idq_uops + program.instructions)
        self.delivered.start(2 * self._idq_size + program.idq_uops + group)
        self.idq.start(4 * self._idq_size + 2 * program.idq_uops + group)
        most_issued = self._issue_width + program.most_merges
        self.issued.start(most_issued)
        self.bound.start(most_issued * program.most_fused)
        self.free.start(most_issued * program.most_fused)
        self.shortage.start(program)


class Shortage:
    """Why the front end delivered no more in its latest cycle. Its stages set the reason when they stop; the
    renamer reads it when the IDQ is empty."""

    def __init__(self) -> None:
        self._stall_cycle = ints(_STALLS)
        """The predecoder's latest stalls in rings: the cycle, and the instruction whose prefix caused it."""
        self._stall_instruction = ints(_STALLS)

    def start(self, program: Program) -> None:
        """Reset: nothing has been delivered."""
        self._program = program
        self.delivered = NONE
        """Row of the program's IDQ uop that was delivered last."""
        self.reason = PREDECODER
        """One of ``REFUSALS``, up to ``JCC``."""
        self._instruction = NONE
        for slot in range(_STALLS):
            self._stall_cycle[slot] = NONE

    def note(self, reason: int) -> None:
        """The instruction whose uop is to be delivered next is late."""
        self.reason = reason
        self._instruction = NONE

    def blame(self, reason: int, instruction: int) -> None:
        """The next delivery is late because of another instruction."""
        self.reason = reason
        self._instruction = instruction

    def instruction(self) -> int:
        """Place of the instruction to blame."""
        if self._instruction != NONE:
            return self._instruction
        following = self.delivered + 1
        return self._program.q_instruction[following if following < self._program.idq_uops else 0]

    def stall(self, cycle: int, instruction: int) -> None:
        """The predecoder stalls in this cycle because of an instruction's length-changing prefix."""
        self._stall_cycle[cycle & _STALLS - 1] = cycle
        self._stall_instruction[cycle & _STALLS - 1] = instruction

    def starve(self, cycle: int) -> None:
        """The decoders starve because the predecoder had not finished the next instruction by this cycle."""
        slot = cycle & _STALLS - 1
        if cycle >= 0 and self._stall_cycle[slot] == cycle:
            self.blame(LCP, self._stall_instruction[slot])
        else:
            self.note(PREDECODER)


class MicrocodeQueue:
    """IDQ uops handed to the microcode sequencer, and the stalls around them in cycles."""

    def start(self) -> None:
        """Reset: no uops are queued."""
        self.first = 0
        self.end = 0
        self.instance = 0
        self.instruction = NONE
        """The instruction of the instance."""
        self.stall = 0
        self.post_stall = 0

    def hand_over(
        self, first: int, end: int, instance: int, instruction: int, stall: int, post_stall: int
    ) -> None:
        """Hand the sequencer the IDQ uops ``first`` .. ``end`` (possibly none) of an instance (MS1)."""
        self.instruction = instruction
        self.first = first
        self.end = end
        self.instance = instance
        self.stall = stall
        self.post_stall = post_stall

    def busy(self) -> bool:
        """Whether the sequencer is busy or stalled (MS2)."""
        return self.first < self.end or self.stall > 0
