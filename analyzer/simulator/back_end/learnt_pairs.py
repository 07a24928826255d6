"""Memory renaming: in a loop a load takes over the value of a store in flight with latency 0 (W6)."""

from __future__ import annotations

from cyclelens.analyzer.simulator.back_end.memory_renaming import MemoryRenaming
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import COMPUTE, NONE, SIMD_CLASS

_SOON, _LATER = 1, 2
"""Extra cycles of forwarding: for data computed in one or two cycles, and for a sum that the renamer still
owes or a vector that was loaded."""
_SLOW = 3
"""From this latency of the producer on, there are no extra cycles: the load is still waiting then."""
_APART = NONE - 1
"""Marks a store whose data no load can take over."""
_WHOLE = 8
"""Bytes of a register."""
_WORD = 2
"""The only register width, in bytes, that is not renamed."""


class LearntPairs(MemoryRenaming):
    """The core learns pairs of load and store by the addresses of the instructions, so copies of the code
    learn nothing. Vectors and 16-bit words are forwarded. As far as is known, so are loads with an index in
    the address and loads that share a scheduler entry with an operation of two other inputs."""

    def __init__(self, columns: Columns) -> None:
        super().__init__(columns)
        self.active = True

    def stored(self, store: int, value: int, key: int, owed: int) -> None:
        """A store's data are renamed: notes if forwarding is delayed, or if no load can take the value
        over."""
        columns = self._columns
        vector: bool = key != NONE and self._program.key_class[key] == SIMD_CLASS
        columns.store_value[store] = _APART if vector else value
        producer = columns.value_uop[value]
        computed: bool = producer != NONE and self._program.u_kind[columns.static[producer]] == COMPUTE
        if owed or (vector and not computed):
            columns.store_late[store] = _LATER
        elif computed and columns.value_latency[value] < _SLOW:
            columns.store_late[store] = _SOON

    def value(self, uop: int, i: int, store: int) -> int:
        """The row of the value that a load takes over from this store, NONE if it has to load."""
        columns = self._columns
        program = self._program
        static = columns.static[uop]
        loaded = program.u_bytes[static]
        stored = columns.store_bytes[store]
        if (
            not program.loop
            or not program.i_takes_over[i]
            or columns.shares_slot(uop)
            or loaded > stored
            # A truncated sum is not a register plus a constant that is owed.
            or (loaded < _WHOLE and columns.store_late[store] == _LATER)
            or loaded == _WORD
            or stored == _WORD
        ):
            return NONE
        value = columns.store_value[store]
        if value == _APART:
            return NONE
        return columns.old_value(0) if value == NONE else value
