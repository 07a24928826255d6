"""Which accesses are known to touch the same memory: symbolic register values and the newest store per
address (uiCA model, chapter 4)."""

from __future__ import annotations

from cyclelens.analyzer.simulator.columns import NONE, Columns
from cyclelens.analyzer.simulator.program import NEW_ORIGIN

AddressKey = tuple[int, int, int, int]
"""Symbolic base and index, scale, displacement."""

_ORIGIN = 1 << 44
"""Origins are this far apart, so that origin plus offset is one integer."""

INITIAL_POLICIES = ("diff", "same", "stack")
"""Initial register values: all different, all the same, or all the same but RSP and RBP."""


class Memory:
    """Symbolic values by rename key, and the store buffer's newest entry by address."""

    def __init__(self, columns: Columns, policy: str) -> None:
        program = columns.program
        self._columns = columns
        self._program = program
        self._origins = 4
        self._symbol = [0] * program.keys
        for key in range(program.keys):
            if policy == "diff":
                self._symbol[key] = self._new_origin()
            elif policy == "stack" and key in (program.rsp, program.rbp):
                self._symbol[key] = (2 if key == program.rsp else 3) * _ORIGIN
            else:
                self._symbol[key] = _ORIGIN
        self._newest: dict[AddressKey | None, int] = {}

    def _new_origin(self) -> int:
        self._origins += 1
        return self._origins * _ORIGIN

    def address_key(self, static_uop: int) -> AddressKey | None:
        """The address of a uop's access with the register values of the moment (4.1)."""
        program = self._program
        if not program.u_has_address[static_uop]:
            return None
        base, index = program.u_base[static_uop], program.u_index[static_uop]
        return (
            self._symbol[base] if base >= 0 else 0,
            self._symbol[index] if index >= 0 else 0,
            program.u_scale[static_uop],
            program.u_displacement[static_uop],
        )

    def open_store(self, static_uop: int) -> int:
        """A store address is renamed: a new store-buffer entry, the newest under its address (W2)."""
        key = self.address_key(static_uop)
        entry = self._columns.new_store(key)
        self._newest[key] = entry
        return entry

    def newest_store(self, static_uop: int) -> int:
        """The entry that a load forwards from, NONE if there is none (W3)."""
        return self._newest.get(self.address_key(static_uop), NONE)

    def copy(self, source: int, target: int) -> None:
        """An eliminated move."""
        self._symbol[target] = self._symbol[source]

    def results(self, instruction: int, keys: list[int]) -> None:
        """An instruction's results to these registers become visible (4.2)."""
        source = self._program.i_symbol_source[instruction]
        if source == NEW_ORIGIN:
            for key in keys:
                self._symbol[key] = self._new_origin()
        else:
            value = self._symbol[source] + self._program.i_symbol_delta[instruction]
            for key in keys:
                self._symbol[key] = value
