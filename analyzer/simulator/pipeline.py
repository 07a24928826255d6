"""The clock: builds the stages of one run, orders them within a cycle, and decides when to stop."""

from __future__ import annotations

from collections.abc import Callable

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.result import Simulation
from cyclelens.analyzer.model.uops import Block
from cyclelens.analyzer.simulator.code_fetch import CodeFetch
from cyclelens.analyzer.simulator.columns import DSB, LSD, MITE, MS, NONE, STACK_ENGINE, Columns
from cyclelens.analyzer.simulator.decoder import Decoder
from cyclelens.analyzer.simulator.dsb import Dsb
from cyclelens.analyzer.simulator.layout import Layout
from cyclelens.analyzer.simulator.lsd import Lsd, lsd_unroll
from cyclelens.analyzer.simulator.memory import Memory
from cyclelens.analyzer.simulator.microcode_sequencer import MicrocodeSequencer
from cyclelens.analyzer.simulator.port_assignment import port_assignment
from cyclelens.analyzer.simulator.predecoder import Predecoder
from cyclelens.analyzer.simulator.program import Program
from cyclelens.analyzer.simulator.queues import (
    CodeQueue,
    DecodeQueue,
    InstructionQueue,
    IssueGroup,
    MicrocodeQueue,
)
from cyclelens.analyzer.simulator.renamer import Renamer
from cyclelens.analyzer.simulator.reorder_buffer import ReorderBuffer
from cyclelens.analyzer.simulator.scheduler import Scheduler
from cyclelens.analyzer.simulator.stack_engine import StackEngine
from cyclelens.analyzer.simulator.summary import summarize

_CANCEL_INTERVAL = 64
_STUCK_CYCLES = 100_000


class Cancelled(Exception):
    """The caller asked to stop."""


class SimulationStuck(Exception):
    """Nothing retires any more: the block has no defined prediction."""


class Pipeline:
    """One run over one block."""

    def __init__(
        self, block: Block, microarchitecture: Microarchitecture, *, initial_policy: str = "diff"
    ) -> None:
        if not block.instructions:
            raise ValueError("a block needs at least one instruction")
        self.microarchitecture = microarchitecture
        program = Program(block, microarchitecture)
        self.program = program
        self.columns = columns = Columns(program)
        layout = Layout(program, microarchitecture)
        self._layout = layout
        code, queue, self._microcode = CodeQueue(), InstructionQueue(), MicrocodeQueue()
        self._idq, issue = DecodeQueue(), IssueGroup()
        usage = [0] * (max(int(port, 16) for port in microarchitecture.ports) + 1)
        memory = Memory(columns, initial_policy)

        self._fetch = CodeFetch(columns, layout, code)
        self._predecoder = Predecoder(columns, microarchitecture, code, queue)
        self._decoder = Decoder(columns, microarchitecture, queue, self._microcode)
        self._sequencer = MicrocodeSequencer(microarchitecture, self._microcode)
        self._dsb = Dsb(columns, microarchitecture, layout, code, self._microcode)
        self.lsd_unroll = lsd_unroll(columns, microarchitecture, layout)
        self._lsd = Lsd(columns, self.lsd_unroll)
        self._stack_engine = StackEngine(columns)
        self._renamer = Renamer(columns, microarchitecture, self._idq, issue, memory)
        self._assignment = port_assignment(columns, microarchitecture, issue, usage)
        self._scheduler = Scheduler(columns, microarchitecture, issue, usage)
        self.reorder_buffer = ReorderBuffer(columns, microarchitecture, issue)
        self._issue = issue

        self._idq_limit = microarchitecture.idq_size - microarchitecture.dsb_width
        self._after_microcode = NONE
        self.cycle = 0
        if self.lsd_unroll:
            self._source = LSD
            self._deliver_from_lsd()
        elif layout.cached[0]:
            self._source = DSB
        else:
            self._source = MITE
        if program.loop and self._source != LSD:
            # The code of the first round is there when the clock starts.
            self._fetch.tick()

    def run(self, min_rounds: int, min_cycles: int, cancel: Callable[[], bool] | None) -> None:
        """Clock until ``min_rounds`` have passed and more than ``min_cycles`` cycles (5.1)."""
        reorder_buffer = self.reorder_buffer
        progress = (0, NONE)
        while True:
            self.tick()
            if reorder_buffer.last_round >= min_rounds and self.cycle > min_cycles:
                break
            if self.cycle % _CANCEL_INTERVAL == 0 and cancel is not None and cancel():
                raise Cancelled
            if reorder_buffer.last_round != progress[1]:
                progress = (self.cycle, reorder_buffer.last_round)
            elif self.cycle - progress[0] > _STUCK_CYCLES:
                raise SimulationStuck(f"no iteration retires in {_STUCK_CYCLES} cycles")
            self.cycle += 1

    def tick(self) -> None:
        """One cycle, the stages in their order (uiCA model, 3.2)."""
        cycle = self.cycle
        reorder_buffer = self.reorder_buffer
        scheduler = self._scheduler
        if reorder_buffer.full or scheduler.full:
            self._issue.fused.clear()
        else:
            self._renamer.tick(cycle, reorder_buffer.empty)
        reorder_buffer.tick(cycle)
        scheduler.wake(cycle)
        self._assignment.tick()
        scheduler.tick(cycle)
        if len(self._idq.uops) <= self._idq_limit:
            self._front_end(cycle)

    def _front_end(self, cycle: int) -> None:
        if self._source == LSD:
            if not self._idq.uops:
                self._deliver_from_lsd()
            return
        self._fetch.tick()
        delivered: list[tuple[int, int]] = []
        if self._microcode.busy:
            self._sequencer.tick(delivered)
            self._add(delivered, MS, cycle)
            if self._after_microcode != NONE and not self._microcode.busy:
                self._after_dsb(self._after_microcode)
                self._after_microcode = NONE
        elif self._source == MITE:
            self._predecoder.tick(cycle)
            self._decoder.tick(cycle, delivered)
            self._add(delivered, MITE, cycle)
            self._after_decoder()
        else:
            self._dsb.tick(delivered)
            self._add(delivered, DSB, cycle)
            if self._microcode.busy:
                # The reference leaves this switch undefined; it is made when the microcode is through.
                self._after_microcode = delivered[-1][1] % self.program.instructions
            elif delivered and self._dsb.last_finished != NONE:
                self._after_dsb(self._dsb.last_finished)

    def _after_decoder(self) -> None:
        """MITE to DSB behind the last instruction of a round (S2)."""
        program = self.program
        if self._decoder.last_decoded == NONE or not self._layout.cached[0]:
            return
        i = self._decoder.last_decoded % program.instructions
        if i == program.key_instruction and (program.i_branch[i] or program.i_first[i]):
            self._source = DSB

    def _after_dsb(self, instruction: int) -> None:
        """DSB to MITE where the following code is not cached (S3)."""
        if not self._layout.next_is_cached(instruction):
            self._source = MITE

    def _add(self, delivered: list[tuple[int, int]], source: int, cycle: int) -> None:
        """Append to the IDQ; the stack engine sees every instruction's first uop before."""
        program = self.program
        columns = self.columns
        for idq_uop, instance in delivered:
            i = instance % program.instructions
            if idq_uop == program.i_idq0[i] and self._stack_engine.passes(i):
                static = program.f_uop0[program.q_fused0[program.sync_idq]]
                sync = columns.new_uop(instance, static)
                columns.source[sync] = STACK_ENGINE
                columns.added[sync] = cycle
                self._idq.uops.append((sync, program.sync_idq))
            self._append(idq_uop, instance, source, cycle)

    def _append(self, idq_uop: int, instance: int, source: int, cycle: int) -> None:
        program = self.program
        columns = self.columns
        offset = program.f_uop0[program.q_fused0[idq_uop]] - program.i_uop0[instance % program.instructions]
        first = columns.instance_uop0[instance] + offset
        fused0 = program.q_fused0[idq_uop]
        uop = first
        for number in range(fused0, fused0 + program.q_fused_count[idq_uop]):
            for _ in range(program.f_uop_count[number]):
                columns.source[uop] = source
                columns.added[uop] = cycle
                uop += 1
        self._idq.uops.append((first, idq_uop))

    def _deliver_from_lsd(self) -> None:
        delivered: list[tuple[int, int]] = []
        self._lsd.tick(delivered)
        for idq_uop, instance in delivered:
            self._append(idq_uop, instance, LSD, NONE)


def simulate(
    block: Block,
    microarchitecture: Microarchitecture,
    *,
    min_rounds: int = 10,
    min_cycles: int = 500,
    initial_policy: str = "diff",
    trace: bool = False,
    details: bool = True,
    cancel: Callable[[], bool] | None = None,
) -> Simulation:
    """Run the block for at least ``min_rounds`` iterations and ``min_cycles`` cycles.

    ``initial_policy`` says which registers hold equal addresses at the start (``diff``, ``same``,
    ``stack``). ``details`` adds the figures per instruction, ``trace`` every event. Raises Cancelled when
    ``cancel`` turns true, SimulationStuck when nothing retires any more, ValueError for an empty block.
    """
    pipeline = Pipeline(block, microarchitecture, initial_policy=initial_policy)
    pipeline.run(min_rounds, min_cycles, cancel)
    return summarize(
        pipeline.columns,
        pipeline.reorder_buffer.key_cycle,
        pipeline.reorder_buffer.key_position,
        rounds=pipeline.reorder_buffer.last_round + 1,
        cycles=pipeline.cycle + 1,
        lsd_unroll=pipeline.lsd_unroll,
        trace=trace,
        details=details,
    )
