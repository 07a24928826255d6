"""The front end of macro-ops: the op cache by windows of 64 bytes, or the decoders (M1 to M3)."""

from __future__ import annotations

from array import array

from cyclelens.analyzer.model.buffer import Buffer
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.simulator.front_end.front_end import FrontEnd
from cyclelens.analyzer.simulator.tables.arrays import Record
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import DECODER, DSB, LATE_DSB, MITE, NEVER, PREDECODER
from cyclelens.analyzer.simulator.tables.in_flight import InFlight
from cyclelens.analyzer.simulator.tables.operations import Operations
from cyclelens.analyzer.simulator.tables.queues import Queues

_EIGHTHS = 8


class OpCache(FrontEnd):
    """Loops come from the op cache; straight-line code and loops too long for it come from the decoders."""

    def __init__(
        self,
        columns: Columns,
        microarchitecture: Microarchitecture,
        queues: Queues,
        operations: Operations,
        in_flight: InFlight,
    ) -> None:
        super().__init__()
        rules = microarchitecture.macro_ops
        assert rules is not None
        self._columns = columns
        self._program = columns.program
        self._operations = operations
        self._flight = in_flight
        self._idq = queues.idq
        self._shortage = queues.shortage
        self._idq_size = microarchitecture.idq_size
        self._decoders = microarchitecture.decoders
        self._decode_bytes = rules.decode_bytes
        self._buffer_bytes = rules.decode_buffer_bytes
        self._long = rules.long_instruction_bytes

    def start(self) -> None:
        """Reset to the beginning of the code."""
        program = self._program
        self.instance = 0
        """The next instance to deliver."""
        self._fetch_from(program.alignment)
        self.wait = 0
        """Time until the next window can be read, in eighths of a cycle."""
        self.decodes = self._operations.decoded
        self._flight.decoded = self.decodes
        self._flight.small_loop = self._operations.small_loop

    def _fetch_from(self, address: int) -> None:
        self.fetched = address // self._decode_bytes * self._decode_bytes
        """Address up to which the decoders have received bytes."""

    def tick(self, cycle: int) -> None:
        """Simulate one cycle."""
        if not self.decodes:
            self._pass()
            self._shortage.note(LATE_DSB)
            while self.wait <= 0 and self._idq.count < self._idq_size:
                self._window(cycle)
        else:
            self._decode(cycle)

    def idle(self) -> int:
        """Cycles in which the op queue is full or the current window is being read. Decoders continue until
        their buffer is full."""
        if self.decodes:
            ahead = self.fetched - self._columns.address_of(self.instance)
            return NEVER if self._idq.count >= self._idq_size and ahead >= self._buffer_bytes else 0
        if self._idq.count >= self._idq_size:
            return NEVER
        return max(0, (self.wait - 1) // _EIGHTHS)

    def skip(self, cycles: int) -> None:
        """Skip this many of these cycles."""
        for _ in range(0 if self.decodes else cycles):
            self._pass()

    def _pass(self) -> None:
        """Pass a cycle in which windows are read."""
        self.wait -= _EIGHTHS
        if self.wait <= -_EIGHTHS:
            # It had to wait for room; at most a fraction of a cycle can be caught up.
            self.wait = 0

    def outline(self) -> int:
        """A hash of the state."""
        return self.wait if not self.decodes else self.fetched - self._columns.address_of(self.instance)

    def record(self, state: Record) -> None:
        """Record this part of the pipeline's state."""
        state.add(self.instance - state.instance)
        if not self.decodes:
            state.add(self.wait)
        else:
            state.add(self.fetched - self._columns.address_of(self.instance))

    def buffers(self) -> tuple[Buffer, ...]:
        """The op queue."""
        return (Buffer("IDQ", self._idq_size, self._idq_size - 1),)

    def placement(self) -> bytes:
        """How the position cuts a loop into windows, and which of its branches fuse. Straight-line code
        passes through all positions."""
        program = self._program
        operations = self._operations
        if not program.loop:
            return bytes([0])
        if operations.follows_place():
            return bytes([program.alignment])
        told = array("i", [self._flight.small_loop])
        for i in range(program.instructions):
            told.append(program.i_second[i])
        if operations.decoded:
            told.append(program.alignment % self._decode_bytes)
            return told.tobytes()
        first = 0
        while first < program.instructions:
            told.append(operations.w_last[first])
            told.append(operations.w_eighths[first])
            first = operations.w_last[first] + 1
        return told.tobytes()

    # -- decoders ------------------------------------------------------------------------------------------

    def _decode(self, cycle: int) -> None:
        columns = self._columns
        program = self._program
        operations = self._operations
        address = columns.address_of(self.instance)
        if self.fetched - address < self._buffer_bytes:
            self.fetched += self._decode_bytes
        used = 0
        self._shortage.note(DECODER)
        while used < self._decoders and self._idq.count < self._idq_size:
            i = self.instance % program.instructions
            length = program.i_length[i]
            if address + length > self.fetched:
                self._shortage.note(PREDECODER)
                return
            if length > self._long and used > 0:
                return
            if operations.m_begins_group[i]:
                if used > 0:
                    return
                used = self._decoders
            else:
                used += 1
            self._deliver(MITE, cycle)
            address += length
            if program.loop and i == program.instructions - 1:
                # Decoding continues at the branch target.
                self._fetch_from(program.alignment)
                return

    def _deliver(self, source: int, cycle: int) -> None:
        """Move the next instance into the op queue."""
        columns = self._columns
        program = self._program
        instance = self.instance
        columns.generate(instance + 1)
        i = instance % program.instructions
        columns.predecoded[instance] = cycle
        columns.removed[instance] = cycle
        for idq_uop in range(program.i_idq0[i], program.i_idq0[i] + program.i_idq_count[i]):
            first = columns.instance_uop0[instance]
            if columns.followed:
                for uop in range(first, first + program.i_uop_count[i]):
                    columns.source[uop] = source
                    columns.added[uop] = cycle
            self._idq.push(first, idq_uop)
            self._shortage.delivered = idq_uop
        self.instance = instance + 1

    # -- op cache ------------------------------------------------------------------------------------------

    def _window(self, cycle: int) -> None:
        """Deliver the instances of one window of code, and note how long that takes."""
        operations = self._operations
        first = self.instance % self._program.instructions
        for _ in range(first, operations.w_last[first] + 1):
            self._deliver(DSB, cycle)
        self.wait += operations.w_eighths[first]
