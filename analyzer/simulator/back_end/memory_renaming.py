"""Memory renaming: in a loop a load takes over the value that a store in flight has stored, at no latency
(W6)."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import COMPUTE, NONE, SIMD_CLASS, UNKNOWN

_COMPUTED, _MATERIALIZED = 1, 2
"""Steps by which forwarding takes longer of what an operation has computed, and of a vector or a sum that the
renamer still owes."""


class MemoryRenaming:
    """The pair of load and store is learnt by the addresses of the instructions, so that it does not happen
    in copies of the code. What an operation has not computed yet when the load is renamed comes by
    forwarding; and so does, for all that is known, what has an index or no base register in its address."""

    def __init__(self, columns: Columns, microarchitecture: Microarchitecture) -> None:
        self._columns = columns
        self._program = columns.program
        self.active: bool = microarchitecture.renames_memory

    def stored(self, store: int, value: int, key: int, owed: int) -> None:
        """A store's data are renamed. ``key``: of the register that holds them, NONE for a value within the
        instruction; ``owed``: whether a constant is owed to it (V9)."""
        columns = self._columns
        columns.store_value[store] = value
        if owed or (key != NONE and self._program.key_class[key] == SIMD_CLASS):
            columns.store_late[store] = _MATERIALIZED
        elif self._is_computed(value):
            columns.store_late[store] = _COMPUTED

    def value(self, static: int, i: int, store: int, cycle: int) -> int:
        """The row of the value that a load takes over from this store, NONE if it has to load."""
        columns = self._columns
        program = self._program
        if (
            not program.loop
            or not (program.i_whole[i] or program.i_adds_memory[i])
            or program.u_bytes[static] != columns.store_bytes[store]
            or program.u_index[static] >= 0
            or program.u_base[static] < 0
        ):
            return NONE
        value = columns.store_value[store]
        if value == NONE:
            return columns.old_value(0)
        ready = columns.value_ready[value]
        if UNKNOWN < ready <= cycle:
            return value
        if self._is_computed(value) and not self._is_added(value):
            return NONE
        return value

    def _is_computed(self, value: int) -> bool:
        """Whether an operation makes the value, and not a load."""
        producer = self._columns.value_uop[value]
        return producer != NONE and self._program.u_kind[self._columns.static[producer]] == COMPUTE

    def _is_added(self, value: int) -> bool:
        """Whether an addition makes the value that the renamer could have carried out."""
        program = self._program
        i = self._columns.position[self._columns.value_uop[value]]
        return program.i_adds[i] != 0 or program.i_adds_memory[i] != 0
