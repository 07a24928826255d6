"""Memory renaming of macro-ops: a load takes over the value of a store whose address is made from the same
values (M18)."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.uops import Trait
from cyclelens.analyzer.simulator.back_end.load_renaming import LoadRenaming
from cyclelens.analyzer.simulator.tables.arrays import Record
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import NONE
from cyclelens.analyzer.simulator.tables.in_flight import InFlight
from cyclelens.analyzer.simulator.tables.operations import Operations

_VECTOR, _READ_MODIFY_WRITE = int(Trait.VECTOR), int(Trait.READ_MODIFY_WRITE)
_NARROWEST = 4
"""Smallest load, in bytes, that is renamed."""
_HASH = 40503


class SameRegisters(LoadRenaming):
    """Vectors and narrow loads are forwarded instead. In loops a predictor learns loads through other
    registers."""

    def __init__(
        self,
        columns: Columns,
        microarchitecture: Microarchitecture,
        operations: Operations,
        in_flight: InFlight,
    ) -> None:
        super().__init__(columns, operations, in_flight)
        rules = microarchitecture.macro_ops
        assert rules is not None
        self._learnt = rules.learnt_loads
        self._unlearnt = rules.unlearnt_loads

    def start(self) -> None:
        """Reset: nothing was loaded."""
        self._unkeyed = 0
        """Loads of the program that read data of a store through other registers."""

    def record(self, state: Record) -> None:
        """Record this part of the pipeline's state."""
        state.add(self._unkeyed)

    def takes_over(self, uop: int, store: int, base: int, index: int) -> bool:
        """Whether a load takes over the value of a store. ``base``, ``index``: the values that its address
        is made from, or NONE."""
        flight = self._flight
        slot = store & flight.store_mask
        static = self._columns.static[uop]
        traits = self._operations.t_traits[static]
        if flight.s_vector[slot] or traits & _VECTOR:
            return False
        if self._program.u_bytes[static] < _NARROWEST and not traits & _READ_MODIFY_WRITE:
            return False
        return self._same(static, slot, base, index) or self._knows(uop)

    def mistakes(self, uop: int, store: int, base: int, index: int) -> bool:
        """Whether a load of other bytes than the store's is mistaken for one that reads them, because its
        displacement looks like the store's."""
        flight = self._flight
        slot = store & flight.store_mask
        static = self._columns.static[uop]
        if base == NONE or flight.s_base_value[slot] != base or flight.s_index_value[slot] != index:
            return False
        if flight.s_vector[slot] or self._operations.t_traits[static] & _VECTOR:
            return False
        return min(self._program.u_bytes[static], self._columns.store_bytes[store]) >= _NARROWEST

    def _same(self, static: int, slot: int, base: int, index: int) -> bool:
        """Whether the store's address is made from the same values, or both use the stack pointer."""
        program = self._program
        flight = self._flight
        if flight.s_index_value[slot] != index:
            return False
        if program.u_base[static] == program.rsp and flight.s_base_key[slot] == program.rsp:
            return True
        return flight.s_base_value[slot] == base

    def _knows(self, uop: int) -> bool:
        """Whether a predictor has learnt to rename this load although the registers differ: in loops with
        few such loads."""
        if not self._program.loop:
            return False
        i = self._columns.position[uop]
        seen = self._operations.m_load_seen
        if not seen[i]:
            seen[i] = 1
            self._unkeyed += 1
            return self._flight.small_loop
        if self._flight.small_loop or self._unkeyed <= self._learnt:
            return True
        if self._unkeyed >= self._unlearnt:
            return False
        # Which loads the predictor holds is not known; the model always takes the same ones.
        share = (self._unlearnt - self._unkeyed) * 1024 // (self._unlearnt - self._learnt)
        return (i * _HASH >> 4) % 1024 < share
