"""The predecoder: 16-byte blocks to instances in the instruction queue (uiCA model, 3.3)."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.simulator.columns import NONE, Columns
from cyclelens.analyzer.simulator.queues import CodeQueue, InstructionQueue


class Predecoder:
    """Up to five instances a cycle; length-changing prefixes stall a block by three cycles each."""

    def __init__(
        self,
        columns: Columns,
        microarchitecture: Microarchitecture,
        code: CodeQueue,
        queue: InstructionQueue,
    ) -> None:
        self._columns = columns
        self._program = columns.program
        self._code = code
        self._queue = queue
        self._width = microarchitecture.predecode_width
        self._block_bytes = microarchitecture.predecode_block_bytes
        self._queue_size = microarchitecture.instruction_queue_size
        self._penalty = microarchitecture.length_changing_prefix_penalty
        self._next = 0
        self._end = 0
        self._group: list[int] = []
        self._partial = NONE
        self._stall = 0
        self._cycles_on_block = 0

    def tick(self, cycle: int) -> None:
        """One cycle."""
        if (
            self._stall == 0
            and not self._group
            and (self._code.blocks or self._partial != NONE)
            and len(self._queue.instances) + self._width <= self._queue_size
            and not self._collect()
        ):
            return
        if self._stall == 0:
            for instance in self._group:
                self._columns.predecoded[instance] = cycle
                self._queue.instances.append(instance)
            self._group.clear()
        else:
            self._stall -= 1

    def _collect(self) -> bool:
        """Fill the group from the current block; False if there is no block to work on."""
        group = self._group
        if self._partial != NONE:
            group.append(self._partial)
            self._partial = NONE
        if self._next == self._end:
            if not self._code.blocks:
                return False
            self._next_block()
        while self._next < self._end and len(group) < self._width and not self._spills(self._next):
            group.append(self._next)
            self._next += 1
        if (
            self._next + 1 == self._end
            and self._spills(self._next)
            and (len(group) < self._width or self._opcode_spills(self._next))
        ):
            self._partial = self._next
            self._next += 1
        self._cycles_on_block += 1
        return True

    def _next_block(self) -> None:
        self._next, self._end = self._code.blocks.popleft()
        count = self._program.instructions
        lcps = sum(self._program.i_lcp[i % count] for i in range(self._next, self._end))
        # Cycles that the previous block took beyond its first hide part of the penalty.
        self._stall = max(0, self._penalty * lcps - max(0, self._cycles_on_block - 1))
        self._cycles_on_block = 0

    def _spills(self, instance: int) -> bool:
        length = self._program.i_length[instance % self._program.instructions]
        return self._columns.address[instance] % self._block_bytes + length > self._block_bytes

    def _opcode_spills(self, instance: int) -> bool:
        opcode = self._program.i_opcode[instance % self._program.instructions]
        return self._columns.address[instance] % self._block_bytes + opcode >= self._block_bytes
