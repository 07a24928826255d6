"""Where macro-ops come from: the op cache by windows of 64 bytes, or the decoders (M1 to M3)."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.simulator.front_end.front_end import FrontEnd
from cyclelens.analyzer.simulator.tables.arrays import ints
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import CODE_LINE, DECODER, DSB, LATE_DSB, MITE, PREDECODER
from cyclelens.analyzer.simulator.tables.in_flight import InFlight
from cyclelens.analyzer.simulator.tables.operations import Operations
from cyclelens.analyzer.simulator.tables.queues import Queues

_EIGHTHS = 8
_SMALL_STEP = 2
"""Cycles that every further pair of lines of a window takes in a small loop."""


class OpCache(FrontEnd):
    """Loops come out of the op cache, straight-line code out of the decoders."""

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
        self._line_entries = rules.line_entries
        self._line_fields = rules.line_fields
        self._taken = rules.taken_branch_eighths
        self._small = rules.small_loop_entries
        self._costs = ints(len(rules.window_eighths))
        for entries, cost in enumerate(rules.window_eighths):
            self._costs[entries] = cost

    def start(self) -> None:
        """At the beginning of the code."""
        program = self._program
        operations = self._operations
        self.instance = 0
        """The next to be delivered."""
        self.fetched = program.alignment // self._decode_bytes * self._decode_bytes
        """Bytes of straight-line code have come as far as this address."""
        self.wait = 0
        """Eighths of cycles until the next window can be read."""
        self.big_before = False
        entries = 0
        for i in range(program.instructions):
            entries += operations.m_entries[i]
        self._flight.decoded = not program.loop
        self._flight.small_loop = bool(program.loop and entries <= self._small)

    def tick(self, cycle: int) -> None:
        """One cycle."""
        if self._program.loop:
            self.wait -= _EIGHTHS
            if self.wait <= -_EIGHTHS:
                # It had to wait for room; only a fraction of a cycle can be made up for.
                self.wait = 0
            self._shortage.note(LATE_DSB)
            while self.wait <= 0 and self._idq.count < self._idq_size:
                self._window(cycle)
        else:
            self._decode(cycle)

    def placement(self) -> bytes:
        """Every place may cut a loop into other windows; straight-line code meets them all."""
        return bytes([self._program.alignment if self._program.loop else 0])

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

    def _deliver(self, source: int, cycle: int) -> None:
        """The next instance enters the op queue."""
        columns = self._columns
        program = self._program
        instance = self.instance
        columns.generate(instance + 1)
        i = instance % program.instructions
        columns.predecoded[instance] = cycle
        columns.removed[instance] = cycle
        for idq_uop in range(program.i_idq0[i], program.i_idq0[i] + program.i_idq_count[i]):
            first = columns.instance_uop0[instance]
            for uop in range(first, first + program.i_uop_count[i]):
                columns.source[uop] = source
                columns.added[uop] = cycle
            self._idq.push(first, idq_uop)
            self._shortage.delivered = idq_uop
        self.instance = instance + 1

    # -- op cache ------------------------------------------------------------------------------------------

    def _window(self, cycle: int) -> None:
        """Deliver what lies in one window of code, and say how long that takes (M2, M3)."""
        columns = self._columns
        program = self._program
        operations = self._operations
        i = self.instance % program.instructions
        window = columns.address_of(self.instance) // CODE_LINE
        lines = 1
        entries = fields = 0
        ended = False
        while not ended and columns.address_of(self.instance) // CODE_LINE == window:
            i = self.instance % program.instructions
            more = operations.m_entries[i]
            if program.i_second[i]:
                more = 1
            elif program.i_first[i]:
                more = 0
            more_fields = operations.m_fields[i]
            if entries + more > self._line_entries or fields + more_fields > self._line_fields:
                lines += 1
                entries = fields = 0
            entries += more
            fields += more_fields
            self._deliver(DSB, cycle)
            ended = i == program.instructions - 1
        filled = self._line_entries * (lines - 1) + min(max(entries, fields), self._line_entries)
        self.wait += self._cost(filled, ended)

    def _cost(self, filled: int, ended: bool) -> int:
        """Eighths of cycles for a window with so much in it."""
        if not self._flight.small_loop:
            cost = self._costs[filled] if filled < len(self._costs) else filled
            return cost + (self._taken if ended else 0)
        pairs = (max(filled, 1) - 1) // (2 * self._line_entries)
        cycles = 1 + _SMALL_STEP * pairs
        big = pairs > 0
        if self.big_before and big and filled <= 15:
            # The second of two such windows hides behind the first.
            cycles = 1
            big = False
        self.big_before = big and not ended
        return _EIGHTHS * cycles
