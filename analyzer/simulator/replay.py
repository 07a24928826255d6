"""Finds which accesses of future rounds overlap, without simulating time."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.options import ModelOptions
from cyclelens.analyzer.simulator.back_end.emulator import Emulator
from cyclelens.analyzer.simulator.back_end.macro_memory import MacroMemory
from cyclelens.analyzer.simulator.tables.arrays import Long, ints, longs
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import CODE_LINE, LOAD, STORE_ADDRESS
from cyclelens.analyzer.simulator.tables.operations import Operations

_TRIES = 8
"""Number of periods examined: if accesses do not repeat with one of them, they hardly ever do later."""
_BEGINS, _COVERED, _PARTLY = 0, 1, 2


class Replay:
    """Emulates a run from its beginning, and keeps the outcome of each access of the latest period."""

    def __init__(
        self,
        columns: Columns,
        microarchitecture: Microarchitecture,
        operations: Operations,
        memory: MacroMemory,
        options: ModelOptions,
    ) -> None:
        rules = microarchitecture.macro_ops
        assert rules is not None
        self._columns = columns
        self._program = columns.program
        self._operations = operations
        self._memory = memory
        self._emulator = Emulator(columns, operations, options.assume, options.harness)
        self._reach = rules.store_queue
        self._by_chunks = rules.store_chunk_bytes > 0
        """Whether it matters if stores go to one chunk."""
        size = 1
        while size < self._reach:
            size *= 2
        self._mask = size - 1
        self._bases = longs(size)
        self._bytes = ints(size)
        self._met = ints(0)
        """Outcome by access of the latest period."""

    def start(self) -> None:
        """Reset for a new run."""
        self.tries = _TRIES

    def repeats(self, instance: int, rounds: int, periods: int) -> bool:
        """Whether all accesses of the next ``periods`` periods, from this instance on, have the same outcomes
        as one period earlier. A period has ``rounds`` rounds."""
        program = self._program
        self.tries -= 1
        accesses = 0
        for static in range(program.uops):
            accesses += program.u_has_address[static]
        if accesses == 0 or self._operations.still:
            return True
        accesses *= rounds
        if accesses > len(self._met):
            self._met = ints(2 * accesses)
        length = rounds * program.instructions
        self._emulator.start()
        self._stores = 0
        access = i = 0
        for each in range(instance + periods * length):
            compared: bool = each >= instance
            for static in range(program.i_uop0[i], program.i_uop0[i] + program.i_uop_count[i]):
                if program.u_has_address[static]:
                    outcome = self._access(static, i, each)
                    if compared and self._met[access] != outcome:
                        return False
                    self._met[access] = outcome
                    access += 1
                    if access == accesses:
                        access = 0
            self._emulator.execute(i, each)
            i += 1
            if i == program.instructions:
                i = 0
        return True

    def _access(self, static: int, i: int, instance: int) -> int:
        """What the time of an access depends on. For a store: which boundary it crosses, and whether it goes
        to the chunk of the previous store. For a load: whether it crosses a line, and how far back the store
        that it overlaps is."""
        program = self._program
        kind = program.u_kind[static]
        size = program.u_bytes[static]
        address: Long = self._emulator.address(static, i, instance)
        if kind == STORE_ADDRESS:
            before: Long = self._bases[(self._stores - 1) & self._mask] if self._stores > 0 else 0
            self._emulator.store_address = address
            self._bases[self._stores & self._mask] = address
            self._bytes[self._stores & self._mask] = size
            self._stores += 1
            together: int = self._by_chunks and before // self._memory.chunk == address // self._memory.chunk
            return 2 * self._memory.crossing(address, size) + together
        crosses: int = address % CODE_LINE + size > CODE_LINE
        if kind == LOAD:
            self._emulator.load_address = address
            for distance in range(1, min(self._reach, self._stores) + 1):
                slot = (self._stores - distance) & self._mask
                ahead: Long = address - self._bases[slot]
                if -size < ahead < self._bytes[slot]:
                    outcome = _COVERED if ahead > 0 else _BEGINS
                    if ahead < 0 or ahead + size > self._bytes[slot]:
                        outcome = _PARTLY
                    return (distance * 4 + outcome) * 2 + crosses
        return crosses
