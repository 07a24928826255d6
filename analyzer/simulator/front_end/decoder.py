"""The legacy decoders (MITE): instances from the instruction queue to IDQ uops (uiCA model, 3.4)."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import NONE
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
        self._microcode = microcode
        self._decoders = microarchitecture.decoders
        self._delay = microarchitecture.predecode_to_decode_delay
        self._fusible_waits = microarchitecture.fusible_waits_for_next
        self._fusible_on_last = microarchitecture.fusible_on_last_decoder
        self._stall = microarchitecture.mite_to_ms_stall
        self.last_decoded = NONE
        """Instruction decoded last in the latest cycle, NONE if there was none."""

    def tick(self, cycle: int) -> None:
        """Decode what this cycle allows."""
        program = self._program
        queue = self._instructions
        slots = self._decoders
        decoded = 0
        self.last_decoded = NONE
        while queue.count > 0:
            instance = queue.firsts[queue.head]
            i = instance % program.instructions
            if program.i_second[i]:
                self._columns.removed[instance] = cycle
                queue.pop()
                continue
            if queue.seconds[queue.head] + self._delay > cycle:
                return
            if decoded > 0 and program.i_complex[i]:
                return
            if self._fusible_waits and program.i_fusible[i] and not self._may_decode_fusible(cycle, decoded):
                return
            queue.pop()
            self._columns.removed[instance] = cycle
            self.last_decoded = i
            first = program.i_idq0[i]
            split = first + program.i_decoded_count[i]
            for idq_uop in range(first, split):
                self._delivered.push(idq_uop, instance)
            if program.i_ms_uops[i]:
                end = first + program.i_idq_count[i]
                self._microcode.hand_over(split, end, instance, self._stall, self._stall)
                return
            slots -= 1
            if program.i_complex[i]:
                slots = min(slots, program.i_simple_decoders[i])
            decoded += 1
            if slots <= 0 or program.i_branch[i] or program.i_first[i]:
                return

    def _may_decode_fusible(self, cycle: int, decoded: int) -> bool:
        """A fusible instruction waits until its possible partner is there too (C4)."""
        if not self._fusible_on_last and decoded == self._decoders - 1:
            return False
        queue = self._instructions
        if queue.count < 2:
            return False
        return queue.seconds[(queue.head + 1) & queue.mask] + self._delay <= cycle
