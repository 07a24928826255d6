"""Intel's front end: decoders (MITE), microcode sequencer (MS), uop cache (DSB) and loop stream detector
(LSD), and which of them delivers next (S1 to S3, F1)."""

from __future__ import annotations

from cyclelens.analyzer.model.buffer import Buffer
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.simulator.front_end.code_fetch import CodeFetch
from cyclelens.analyzer.simulator.front_end.decoder import Decoder
from cyclelens.analyzer.simulator.front_end.dsb import Dsb
from cyclelens.analyzer.simulator.front_end.front_end import FrontEnd
from cyclelens.analyzer.simulator.front_end.lsd import Lsd
from cyclelens.analyzer.simulator.front_end.microcode_sequencer import MicrocodeSequencer
from cyclelens.analyzer.simulator.front_end.predecoder import Predecoder
from cyclelens.analyzer.simulator.front_end.stack_engine import StackEngine
from cyclelens.analyzer.simulator.tables.arrays import Record
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import (
    DSB,
    DSB_SWITCH,
    JCC,
    LATE_DSB,
    LSD,
    MITE,
    MS,
    NEVER,
    NONE,
    PREDECODER,
)
from cyclelens.analyzer.simulator.tables.layout import Layout
from cyclelens.analyzer.simulator.tables.queues import MicrocodeQueue, Queues


class MiteDsbLsd(FrontEnd):
    """One source delivers at a time; microcode has priority over all others."""

    def __init__(self, columns: Columns, microarchitecture: Microarchitecture, queues: Queues) -> None:
        super().__init__()
        program = columns.program
        layout = Layout(program, microarchitecture)
        microcode = MicrocodeQueue()
        self._program = program
        self._layout = layout
        self._queues = queues
        self._microcode = microcode
        self._shortage = queues.shortage
        self._fetch = CodeFetch(columns, layout, queues)
        self._predecoder = Predecoder(columns, microarchitecture, queues)
        self._decoder = Decoder(columns, microarchitecture, queues, microcode)
        self._sequencer = MicrocodeSequencer(microarchitecture, queues, microcode)
        self._dsb = Dsb(columns, microarchitecture, layout, queues, microcode)
        self._lsd = Lsd(columns, microarchitecture, layout, queues)
        self._stack_engine = StackEngine(columns, microarchitecture, queues)
        self._lsd_rest = 0 if microarchitecture.lsd_has_borders else microarchitecture.issue_width
        self._idq_size = microarchitecture.idq_size
        self._idq_limit = microarchitecture.idq_size - microarchitecture.dsb_width

    def start(self) -> None:
        """Prepare a run over the program."""
        self._layout.start()
        self._microcode.start()
        self._fetch.start()
        self._predecoder.start()
        self._dsb.start()
        self._lsd.start()
        self._stack_engine.start()
        self._decoder.start(self._last_before_dsb())
        self._after_microcode = NONE
        """Instruction whose microcode interrupts the DSB."""
        self.lsd_unroll = self._lsd.unroll
        if self._lsd.unroll:
            self.source = LSD
            self._lsd.tick()
            self._stack_engine.tick(LSD, 0)
        elif self._layout.cached[0]:
            self.source = DSB
            self._shortage.note(LATE_DSB)
        else:
            self.source = MITE
            self._note_uncached()
        if self._program.loop and self.source != LSD:
            # The code of the first round is already fetched when the clock starts.
            self._fetch.tick()

    def idle(self) -> int:
        """Cycles in which the IDQ may not have room for a delivery, or a stall of microcode or predecoder
        lasts."""
        queues = self._queues
        if self._rests() or (self.source == LSD and queues.idq.count > self._lsd_rest):
            return NEVER
        if self._microcode.busy():
            return max(0, self._microcode.stall - 1)
        if self.source == MITE and queues.instructions.count == 0:
            return max(0, self._predecoder.stall - 1)
        return 0

    def skip(self, cycles: int) -> None:
        """Skip this many of these cycles."""
        if self._rests() or self.source == LSD:
            return
        if self._microcode.busy():
            self._microcode.stall -= cycles
        else:
            self._predecoder.stall -= cycles

    def _rests(self) -> bool:
        """Whether the IDQ may not have room for a full delivery of the DSB."""
        return self._queues.idq.count > self._idq_limit

    def tick(self, cycle: int) -> None:
        """Let one of the sources deliver."""
        if not self._rests():
            if self.source != LSD:
                self._from_code(cycle)
            elif self._queues.idq.count <= self._lsd_rest:
                self._lsd.tick()
                self._stack_engine.tick(LSD, cycle)

    def record(self, state: Record) -> None:
        """Record this part of the pipeline's state."""
        state.add(self.source)
        state.add(self._after_microcode)
        if self.source == LSD:
            self._lsd.record(state)
        else:
            self._fetch.record(state)
            self._predecoder.record(state)
            self._sequencer.record(state)
            self._dsb.record(state)
        self._stack_engine.record(state)

    def outline(self) -> int:
        """A hash of the state."""
        return (self._queues.instructions.count << 16) ^ self._stack_engine.offset

    def buffers(self) -> tuple[Buffer, ...]:
        """Instruction queue and IDQ."""
        return (self._predecoder.buffer(), Buffer("IDQ", self._idq_size, self._idq_limit))

    def placement(self) -> bytes:
        """Addresses within lines, which code is cached, and everything that decoding the rest depends on."""
        return self._layout.key()

    def _from_code(self, cycle: int) -> None:
        """Deliver from microcode, decoders or DSB."""
        self._fetch.tick()
        if self._microcode.busy():
            self._sequencer.tick()
            self._stack_engine.tick(MS, cycle)
            if self._after_microcode != NONE and not self._microcode.busy():
                self._after_dsb(self._after_microcode)
                self._after_microcode = NONE
        elif self.source == MITE:
            self._predecoder.tick(cycle)
            self._decoder.tick(cycle)
            self._stack_engine.tick(MITE, cycle)
            if self._layout.erratum != NONE and not self._microcode.busy():
                self._shortage.blame(JCC, self._layout.erratum)
            self._after_decoder()
        else:
            self._dsb.tick()
            self._stack_engine.tick(DSB, cycle)
            if self._microcode.busy():
                # The published simulator leaves this switch undefined; here it happens after the microcode.
                self._after_microcode = self._dsb.last_instruction
            elif self._dsb.finished:
                self._after_dsb(self._dsb.last_instruction)
                if self.source == MITE:
                    self._note_uncached()

    def _after_decoder(self) -> None:
        """Switch from MITE to DSB after the last instruction of a round (S2)."""
        if self._decoder.last_decoded == self._decoder.end != NONE:
            self.source = DSB
            if not self._microcode.busy():
                self._shortage.note(DSB_SWITCH)

    def _last_before_dsb(self) -> int:
        """The last instruction of a round if the code after it is cached; NONE otherwise (S2)."""
        program = self._program
        last = program.key_instruction
        switches = self._layout.cached[0] and (program.i_branch[last] or program.i_first[last])
        return last if switches else NONE

    def _after_dsb(self, instruction: int) -> None:
        """Switch from DSB to MITE if the following code is not cached (S3)."""
        if not self._layout.next_is_cached(instruction):
            self.source = MITE

    def _note_uncached(self) -> None:
        """Record that the next delivery is late because its code is not cached."""
        if self._layout.erratum == NONE:
            self._shortage.note(PREDECODER)
        else:
            self._shortage.blame(JCC, self._layout.erratum)
