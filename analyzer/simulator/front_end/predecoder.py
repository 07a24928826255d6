"""The predecoder: splits blocks of 16 or 32 bytes into instances for the instruction queue (uiCA model,
3.3)."""

from __future__ import annotations

from cyclelens.analyzer.model.buffer import Buffer
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.simulator.tables.arrays import Record, ints
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import NONE
from cyclelens.analyzer.simulator.tables.queues import Queues


class Predecoder:
    """As many instances per cycle as the core's width; a length-changing prefix stalls for three cycles."""

    def __init__(self, columns: Columns, microarchitecture: Microarchitecture, queues: Queues) -> None:
        self._columns = columns
        self._program = columns.program
        self._blocks = queues.blocks
        self._instructions = queues.instructions
        self._shortage = queues.shortage
        self._width = microarchitecture.predecode_width
        self._block_bytes = microarchitecture.predecode_block_bytes
        self._in_block = self._block_bytes - 1
        """Mask of an address's offset within its block; block sizes are powers of two."""
        self._queue_size = microarchitecture.instruction_queue_size
        self._queue_limit = self._queue_size - self._width
        self._delay = microarchitecture.predecode_to_decode_delay
        self._penalty = microarchitecture.length_changing_prefix_penalty
        self._group = ints(self._width)

    def start(self) -> None:
        """Reset to empty."""
        self.next = 0
        self.end = 0
        self.group_count = 0
        self.partial = NONE
        self.stall = 0
        self._prefixed = NONE
        """The instruction in the current block whose length-changing prefix stalls it."""
        self.cycles_on_block = 0
        self._has_prefixes = False
        """Whether any instruction has such a prefix."""
        for i in range(self._program.instructions):
            if self._program.i_lcp[i]:
                self._has_prefixes = True

    def tick(self, cycle: int) -> None:
        """Simulate one cycle."""
        if (
            self.stall == 0
            and self.group_count == 0
            and (self._blocks.count > 0 or self.partial != NONE)
            and self._instructions.count <= self._queue_limit
            and not self._collect()
        ):
            return
        if self.stall == 0:
            for position in range(self.group_count):
                instance = self._group[position]
                self._columns.predecoded[instance] = cycle
                self._instructions.push(instance, cycle)
            self.group_count = 0
        else:
            self.stall -= 1
            self._shortage.stall(cycle, self._prefixed)

    def buffer(self) -> Buffer:
        """The instruction queue."""
        return Buffer("IQ", self._queue_size, self._queue_limit)

    def record(self, state: Record) -> None:
        """Record this part of the pipeline's state, with the instruction queue that it fills."""
        if self.next < self.end:
            state.add(self.next - state.instance)
            state.add(self.end - state.instance)
        state.add(self.group_count)
        for position in range(self.group_count):
            state.add(self._group[position] - state.instance)
        state.add(NONE if self.partial == NONE else self.partial - state.instance)
        state.add(self.stall)
        state.add(self.cycles_on_block)
        queue = self._instructions
        state.add(queue.count)
        for position in range(queue.count):
            index = (queue.head + position) & queue.mask
            state.add(queue.firsts[index] - state.instance)
            state.add_time(queue.seconds[index], self._delay)

    def _collect(self) -> bool:
        """Fill the group from the current block; False if there is no block to work on."""
        if self.partial != NONE:
            self._group[0] = self.partial
            self.group_count = 1
            self.partial = NONE
        if self.next == self.end:
            if self._blocks.count == 0:
                return False
            self._next_block()
        while self.next < self.end and self.group_count < self._width:
            # Only the last instruction that begins in a block can cross its end.
            if self.next + 1 == self.end and self._spills(self.next):
                break
            self._group[self.group_count] = self.next
            self.group_count += 1
            self.next += 1
        if (
            self.next + 1 == self.end
            and self._spills(self.next)
            and (self.group_count < self._width or self._opcode_spills(self.next))
        ):
            self.partial = self.next
            self.next += 1
        self.cycles_on_block += 1
        return True

    def _next_block(self) -> None:
        blocks = self._blocks
        self.next = blocks.firsts[blocks.head]
        self.end = blocks.seconds[blocks.head]
        blocks.pop()
        lcps = 0
        for instance in range(self.next, self.end if self._has_prefixes else self.next):
            i = self._columns.place[instance]
            if self._program.i_lcp[i]:
                lcps += self._program.i_lcp[i]
                self._prefixed = i
        # Cycles that the previous block took beyond its first one hide part of the penalty.
        self.stall = max(0, self._penalty * lcps - max(0, self.cycles_on_block - 1))
        self.cycles_on_block = 0

    def _spills(self, instance: int) -> bool:
        length = self._program.i_length[self._columns.place[instance]]
        return (self._columns.address[instance] & self._in_block) + length > self._block_bytes

    def _opcode_spills(self, instance: int) -> bool:
        opcode = self._program.i_opcode[self._columns.place[instance]]
        return (self._columns.address[instance] & self._in_block) + opcode >= self._block_bytes
