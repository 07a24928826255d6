"""Which accesses are known to touch the same memory: symbolic register values and the stores under their
addresses (uiCA model, chapter 4)."""

from __future__ import annotations

from cyclelens.analyzer.simulator.arrays import Record, grown, longs
from cyclelens.analyzer.simulator.columns import Columns
from cyclelens.analyzer.simulator.constants import NONE, UNKNOWN

_ORIGIN = 1 << 42
"""Origins are this far apart, so that origin plus offset is one integer."""
_FIRST_FREE = 4

INITIAL_POLICIES = ("diff", "same", "stack")
"""Initial register values: all different, all the same, or all the same but RSP and RBP."""


class Memory:
    """Symbolic values by rename key, and the store buffer by address: two accesses meet if base, index,
    scale and displacement agree."""

    def __init__(self, columns: Columns, policy: str) -> None:
        program = columns.program
        self._columns = columns
        self._program = program
        self._origin: int = _ORIGIN
        self._origins = _FIRST_FREE
        self.symbol = longs(program.keys)
        for key in range(program.keys):
            if policy == "diff":
                self.symbol[key] = self._new_origin()
            elif policy == "stack" and key == program.rsp:
                self.symbol[key] = 2 * self._origin
            elif policy == "stack" and key == program.rbp:
                self.symbol[key] = 3 * self._origin
            else:
                self.symbol[key] = self._origin
        self.first_live = 0
        """Stores before this one are long finished: forwarding from them changes nothing."""
        self._seen = 0
        self._seen_symbol = longs(64)
        # The address looked up last.
        self._base = 0
        self._index = 0
        self._scale = 0
        self._displacement = 0

    def _new_origin(self) -> int:
        self._origins += 1
        return self._origin * self._origins

    def _look_at(self, static_uop: int) -> None:
        """The address of a uop's access with the register values of the moment (4.1)."""
        program = self._program
        self._base = 0
        self._index = 0
        self._scale = program.u_scale[static_uop]
        self._displacement = program.u_displacement[static_uop]
        if program.u_base[static_uop] >= 0:
            self._base = self.symbol[program.u_base[static_uop]]
        if program.u_index[static_uop] >= 0:
            self._index = self.symbol[program.u_index[static_uop]]

    def open_store(self, static_uop: int) -> int:
        """A store address is renamed: a new store-buffer entry, the newest under its address (W2)."""
        columns = self._columns
        self._look_at(static_uop)
        store = columns.new_store()
        columns.store_base[store] = self._base
        columns.store_index[store] = self._index
        columns.store_scale[store] = self._scale
        columns.store_displacement[store] = self._displacement
        return store

    def newest_store(self, static_uop: int, cycle: int) -> int:
        """The entry that a load forwards from, NONE if there is none that still matters (W3)."""
        columns = self._columns
        while self.first_live < columns.stores and self._finished(self.first_live, cycle):
            self.first_live += 1
        if self.first_live == columns.stores:
            return NONE
        self._look_at(static_uop)
        store = columns.stores - 1
        while store >= self.first_live:
            if (
                columns.store_base[store] == self._base
                and columns.store_displacement[store] == self._displacement
                and columns.store_index[store] == self._index
                and columns.store_scale[store] == self._scale
            ):
                return store
            store -= 1
        return NONE

    def _finished(self, store: int, cycle: int) -> bool:
        """Its data were there before any load that is renamed now can ask for them."""
        columns = self._columns
        return (
            UNKNOWN < columns.store_address[store] <= cycle and UNKNOWN < columns.store_data[store] <= cycle
        )

    def record(self, state: Record) -> None:
        """Its part of the pipeline's state. What counts of a symbolic value is which others have the same
        origin and how far from them it is."""
        columns = self._columns
        while self.first_live < columns.stores and self._finished(self.first_live, state.cycle):
            self.first_live += 1
        self._seen = 0
        for position in range(len(self._program.used_key)):
            self._record_symbol(state, self.symbol[self._program.used_key[position]])
        state.add(columns.stores - self.first_live)
        for store in range(self.first_live, columns.stores):
            self._record_symbol(state, columns.store_base[store])
            self._record_symbol(state, columns.store_index[store])
            state.add(columns.store_scale[store])
            state.add(columns.store_displacement[store])
            state.add_time(columns.store_address[store], 0)
            state.add_time(columns.store_data[store], 0)

    def _record_symbol(self, state: Record, symbol: int) -> None:
        number = 0
        while number < self._seen and abs(self._seen_symbol[number] - symbol) >= self._origin // 2:
            number += 1
        if number == self._seen:
            if number == len(self._seen_symbol):
                self._seen_symbol = grown(self._seen_symbol, 2 * number)
            self._seen_symbol[number] = symbol
            self._seen = number + 1
        state.add(number)
        state.add(symbol - self._seen_symbol[number])

    def copy(self, source: int, target: int) -> None:
        """An eliminated move."""
        self.symbol[target] = self.symbol[source]

    def continued(self, i: int) -> int:
        """The symbolic value that an instruction's results continue, 0 if they have new origins (4.2)."""
        source = self._program.i_symbol_source[i]
        if source < 0:
            return 0
        return self.symbol[source] + self._program.i_symbol_delta[i]

    def result(self, key: int, continued: int) -> None:
        """A result to this register becomes visible."""
        self.symbol[key] = continued if continued else self._new_origin()
