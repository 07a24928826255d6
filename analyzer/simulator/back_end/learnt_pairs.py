"""Memory renaming: in a loop a load takes over the value that a store in flight has stored, at no latency
(W6)."""

from __future__ import annotations

from cyclelens.analyzer.simulator.back_end.memory_renaming import MemoryRenaming
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import COMPUTE, NONE, SIMD_CLASS

_SOON, _LATER = 1, 2
"""Cycles by which forwarding takes longer of what an operation of a cycle or two has computed, and of a sum
that the renamer still owes and of a vector that was loaded."""
_SLOW = 3
"""Latency of an operation from which on that costs nothing: the load is still waiting then."""
_APART = NONE - 1
"""Of a store whose data are no value that a load could take over."""
_WHOLE = 8
"""Bytes of a register."""
_WORD = 2
"""Bytes of the only width of registers that is not renamed."""


class LearntPairs(MemoryRenaming):
    """The pair of load and store is learnt by the addresses of the instructions, so that it does not happen
    in copies of the code. Vectors and 16-bit words come by forwarding; and so do, for all that is known,
    what has an index in its address and what shares its entry in the scheduler with an operation of two
    other inputs."""

    def __init__(self, columns: Columns) -> None:
        super().__init__(columns)
        self.active = True

    def stored(self, store: int, value: int, key: int, owed: int) -> None:
        """A store's data are renamed: they may be known too late, or be none that a load could take over."""
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
            # What is cut off after a constant was added is no register with a constant that is owed.
            or (loaded < _WHOLE and columns.store_late[store] == _LATER)
            or loaded == _WORD
            or stored == _WORD
        ):
            return NONE
        value = columns.store_value[store]
        if value == _APART:
            return NONE
        return columns.old_value(0) if value == NONE else value
