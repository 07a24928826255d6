"""The legacy decoders (MITE): instances from the instruction queue to IDQ uops (uiCA model, 3.4)."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.simulator.tables.arrays import ints
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import DECODER, MICROCODE_SWITCH, NONE
from cyclelens.analyzer.simulator.tables.queues import MicrocodeQueue, Queues


class Decoder:
    """One complex and three simple decoders."""

    def __init__(
        self,
        columns: Columns,
        microarchitecture: Microarchitecture,
        queues: Queues,
        microcode: MicrocodeQueue,
    ) -> None:
        self._columns = columns
        self._program = columns.program
        self._instructions = queues.instructions
        self._delivered = queues.delivered
        self._shortage = queues.shortage
        self._microcode = microcode
        self._decoders = microarchitecture.decoders
        self._delay = microarchitecture.predecode_to_decode_delay
        self._fusible_waits = microarchitecture.fusible_waits_for_next
        self._branch_ends = microarchitecture.branch_ends_decode_group
        self._fusible_on_last = microarchitecture.fusible_on_last_decoder
        self._stall = microarchitecture.mite_to_ms_stall
        self.end = NONE
        """Instruction after which another source delivers; NONE if there is none. It ends the decoding of
        its cycle."""
        self.last_decoded = NONE
        """The latest instruction decoded in the latest cycle, NONE if there was none."""
        self._plain = ints(0)
        """By place of an instruction: whether any decoder takes it and the next one may follow at once."""

    def start(self, end: int) -> None:
        """Reset: nothing was decoded. ``end``: see above."""
        program = self._program
        self.end = end
        self.last_decoded = NONE
        if program.instructions > len(self._plain):
            self._plain = ints(2 * program.instructions)
        for i in range(program.instructions):
            self._plain[i] = 1
            if program.i_complex[i] or program.i_fusible[i] or program.i_ms_uops[i]:
                self._plain[i] = 0
            if program.i_branch[i] or program.i_first[i] or i == end:
                self._plain[i] = 0

    def tick(self, cycle: int) -> None:
        """Decode as much as this cycle allows."""
        program = self._program
        queue = self._instructions
        slots = self._decoders
        decoded = 0
        self.last_decoded = NONE
        while queue.count > 0:
            instance = queue.firsts[queue.head]
            i = self._columns.place[instance]
            if program.i_second[i]:
                self._columns.removed[instance] = cycle
                queue.pop()
                continue
            if queue.seconds[queue.head] + self._delay > cycle:
                break
            if not self._plain[i]:
                if decoded > 0 and program.i_complex[i]:
                    break
                fusible: bool = self._fusible_waits and program.i_fusible[i] != 0
                if fusible and not self._may_decode_fusible(cycle, decoded):
                    return
            queue.pop()
            self._columns.removed[instance] = cycle
            self.last_decoded = i
            first = program.i_idq0[i]
            split = first + program.i_decoded_count[i]
            for idq_uop in range(first, split):
                self._delivered.push(idq_uop, instance)
            slots -= 1
            decoded += 1
            if not self._plain[i]:
                if program.i_ms_uops[i]:
                    end = first + program.i_idq_count[i]
                    self._microcode.hand_over(split, end, instance, i, self._stall, self._stall)
                    self._shortage.blame(MICROCODE_SWITCH, i)
                    return
                if program.i_complex[i]:
                    slots = min(slots, program.i_simple_decoders[i])
                if i == self.end or (self._branch_ends and (program.i_branch[i] or program.i_first[i])):
                    break
            if slots <= 0:
                break
        if self._has_next(cycle):
            self._shortage.note(DECODER)
        else:
            self._shortage.starve(cycle - self._delay)

    def _has_next(self, cycle: int) -> bool:
        """Whether the next instruction could be decoded if there were decoders for it."""
        queue = self._instructions
        if not self._is_there(0, cycle):
            return False
        fusible = self._program.i_fusible[self._columns.place[queue.firsts[queue.head]]]
        return not (self._fusible_waits and fusible) or self._is_there(1, cycle)

    def _is_there(self, place: int, cycle: int) -> bool:
        """Whether the instance at a place of the queue may be decoded by now."""
        queue = self._instructions
        return queue.count > place and queue.seconds[(queue.head + place) & queue.mask] + self._delay <= cycle

    def _may_decode_fusible(self, cycle: int, decoded: int) -> bool:
        """Whether a fusible instruction may be decoded: it waits until its possible partner is there too
        (C4)."""
        if not self._fusible_on_last and decoded == self._decoders - 1:
            self._shortage.note(DECODER)
            return False
        if self._is_there(1, cycle):
            return True
        self._shortage.starve(cycle - self._delay)
        return False
