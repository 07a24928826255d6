"""Decides which accesses are known to touch the same memory, from symbolic register values and from the
stores by address (uiCA model, chapter 4)."""

from __future__ import annotations

from cyclelens.analyzer.model.choices import Pointers
from cyclelens.analyzer.simulator.tables.arrays import Long, PairQueue, Record, grown, longs
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.constants import (
    CODE_LINE,
    LINE_WORDS,
    LOAD,
    NONE,
    STORE_DATA,
    UNKNOWN,
)
from cyclelens.analyzer.simulator.tables.values import LOADED, SUM

_ORIGIN = 1 << 42
"""Distance between origins, so that origin plus offset is one integer."""
_HALF = _ORIGIN // 2
_FIRST_FREE = 4
_NO_SYMBOL = -(1 << 62)
_PAGE = 4096
_FARTHEST = 1 << 31
"""Largest distance in bytes from the instruction pointer."""
_FILL = 0x12345600
"""The constant in every register and memory word of the BHive profiler."""
_EQUAL = 0x2324000
"""Value of all registers if they are assumed equal and values are tracked: the constant of the harness by
which newer cores were measured. It is page-aligned."""
_WORD_BYTES = 4
_ORIGINS = 1 << 14
_IN_CACHE = 16
"""Cycles after which a store that has left the store buffer no longer affects any load."""


class Memory:
    """Symbolic values by rename key, and the store buffer by address. Two accesses overlap if base, index,
    scale and displacement agree.

    With ``exact_memory`` they overlap if they share a byte. Base and displacement are then one sum, which
    includes an index of known value.
    """

    def __init__(self, columns: Columns, pointers: Pointers, lines_matter: bool) -> None:
        program = columns.program
        self._lines_matter = lines_matter
        self._columns = columns
        self._program = program
        self._one_page = pointers is Pointers.BHIVE
        self._all_different = pointers is Pointers.DIFFERENT
        self._all_equal = pointers is Pointers.SAME
        self._all_words_equal = pointers in (Pointers.BHIVE, Pointers.SAME)
        self._word: Long = _FILL if pointers is Pointers.BHIVE else _EQUAL
        self._stack_apart = pointers in (Pointers.STACK, Pointers.BHIVE)
        self._seen_symbol = longs(64)
        self.symbol = longs(64)

    def start(self) -> None:
        """Reset: no stores yet, and registers point where the policy says."""
        program = self._program
        self._from_store = False
        """Whether the latest load looked up reads data of a store in flight."""
        self.blocked = 0
        """Whether the latest load looked up overlaps a store that it cannot forward from."""
        self.ahead: Long = 0
        """Bytes from the first byte of that store to the first byte of the load."""
        self.first_live = 0
        """Stores before this one finished long ago; forwarding from them changes nothing."""
        self._seen = 0
        if program.keys > len(self.symbol):
            self.symbol = longs(2 * program.keys)
        self._origins: Long = _FIRST_FREE
        for key in range(program.keys):
            if self._all_different:
                self.symbol[key] = self._new_origin()
            elif self._stack_apart and key == program.rsp:
                self.symbol[key] = 2 * _ORIGIN
            elif self._stack_apart and key == program.rbp:
                self.symbol[key] = 3 * _ORIGIN
            elif self._one_page:
                self.symbol[key] = _FILL
            elif self._all_equal and program.exact_values:
                self.symbol[key] = _EQUAL
            else:
                self.symbol[key] = _ORIGIN
        # The address looked up last.
        self._base: Long = 0
        self._index: Long = 0
        self._scale = 0
        self._displacement = 0

    def _new_origin(self) -> Long:
        self._origins += 1
        return _ORIGIN * self._origins

    def _look_at(self, static_uop: int) -> None:
        """Look up the address of a uop's access with the current register values (4.1)."""
        program = self._program
        self._base = 0
        self._index = 0
        self._scale = program.u_scale[static_uop]
        self._displacement = program.u_displacement[static_uop]
        if program.u_base[static_uop] >= 0:
            self._base = self.symbol[program.u_base[static_uop]]
        if program.u_index[static_uop] >= 0:
            self._index = self.symbol[program.u_index[static_uop]]
        if program.exact_values:
            self._base += self._displacement + program.u_stack_offset[static_uop]
            self._displacement = 0
            if self._is_number(self._index):
                self._base += self._index * self._scale
                self._index = 0
                self._scale = 0
            if self._one_page and self._is_number(self._base):
                self._base = self._base & (_PAGE - 1)

    def _is_number(self, symbol: Long) -> bool:
        """Whether a value has no unknown part."""
        return -_HALF < symbol < _HALF

    def open_store(self, static_uop: int) -> int:
        """A store address is renamed: create a store-buffer entry, the newest under its address (W2)."""
        columns = self._columns
        self._look_at(static_uop)
        store = columns.new_store()
        columns.store_base[store] = self._base
        columns.store_index[store] = self._index
        columns.store_scale[store] = self._scale
        columns.store_displacement[store] = self._displacement
        columns.store_bytes[store] = self._program.u_bytes[static_uop]
        return store

    def newest_store(self, static_uop: int, cycle: int) -> int:
        """The entry that a load forwards from; NONE if no store in flight affects it (W3)."""
        columns = self._columns
        self.blocked = 0
        self.ahead = 0
        self._from_store = False
        while self.first_live < columns.stores and self._finished(self.first_live, cycle):
            self.first_live += 1
        if self.first_live == columns.stores:
            return NONE
        self._look_at(static_uop)
        if self._program.exact_memory:
            return self._newest_overlapping(self._program.u_bytes[static_uop])
        store = columns.stores - 1
        while store >= self.first_live:
            if (
                columns.store_base[store] == self._base
                and columns.store_displacement[store] == self._displacement
                and columns.store_index[store] == self._index
                and columns.store_scale[store] == self._scale
            ):
                self._from_store = True
                return store
            store -= 1
        return NONE

    def words(self, static_uop: int) -> int:
        """Mask of the ``LINE_WORDS`` words of four bytes in a line that an access touches. The bits above
        identify the unknown part of the address, as far as it is known; 0 if the address is a number. For
        the instruction pointer that is a page, because the offset of a symbol in its line is not known."""
        self._look_at(static_uop)
        address = self._base + self._index * self._scale
        origin = 0 if self._is_number(address) else (address + _HALF) // _ORIGIN % _ORIGINS
        if self._program.u_base[static_uop] == self._program.rip:
            distance: Long = self._program.u_displacement[static_uop]
            origin = (origin + (distance + _FARTHEST) // _PAGE) % _ORIGINS
        first = address // _WORD_BYTES % LINE_WORDS
        last = (address + max(self._program.u_bytes[static_uop], 1) - 1) // _WORD_BYTES % LINE_WORDS
        touched = (2 << last) - (1 << first)
        if last < first:  # crosses the end of the line
            touched += (1 << LINE_WORDS) - 1
        return origin << LINE_WORDS | touched

    def _newest_overlapping(self, size: int) -> int:
        """The newest store that shares a byte with the current load. The load can forward if that store
        wrote all of its bytes. Accesses of unknown size are compared by their first byte."""
        columns = self._columns
        store = columns.stores - 1
        while store >= self.first_live:
            if columns.store_index[store] == self._index and columns.store_scale[store] == self._scale:
                ahead = self._base - columns.store_base[store]
                stored = columns.store_bytes[store]
                if ahead == 0 or -size < ahead < stored:
                    self._from_store = True
                    self.ahead = ahead
                    self.blocked = size > 0 and stored > 0 and (ahead < 0 or ahead + size > stored)
                    return store
            store -= 1
        return NONE

    def _finished(self, store: int, cycle: int) -> bool:
        """Whether the store's data were ready before any load that is renamed now can need them."""
        columns = self._columns
        if self._program.exact_memory:
            return UNKNOWN < columns.store_left[store] <= cycle - _IN_CACHE
        return (
            UNKNOWN < columns.store_address[store] <= cycle and UNKNOWN < columns.store_data[store] <= cycle
        )

    def record(self, state: Record, in_flight: PairQueue) -> None:
        """Record this part of the pipeline's state. Of a symbolic value in an address only these matter:
        which other values have the same origin, its distance from them, and, if lines matter, its offset
        within the line. ``in_flight``: the uops of the reorder buffer."""
        columns = self._columns
        while self.first_live < columns.stores and self._finished(self.first_live, state.cycle):
            self.first_live += 1
        if not self._program.compares_addresses:
            return
        self._seen = 0
        for position in range(self._program.address_keys):
            self._record_symbol(state, self.symbol[self._program.address_key[position]])
        first = self.first_live
        if self._lines_matter:
            first = self._record_in_flight(state, in_flight)
        state.add(columns.stores - first)
        for store in range(first, columns.stores):
            self._record_symbol(state, columns.store_base[store])
            self._record_symbol(state, columns.store_index[store])
            state.add(columns.store_scale[store])
            state.add(columns.store_displacement[store])
            state.add_time(columns.store_address[store], 0)
            state.add_time(columns.store_data[store], 0)
            state.add(columns.store_late[store])
            if self._program.exact_memory:
                state.add_time(columns.store_left[store], _IN_CACHE)

    def _record_in_flight(self, state: Record, in_flight: PairQueue) -> int:
        """Record the words that waiting loads read. Returns the first store whose line still matters: one
        that has not retired, or that loads can overlap."""
        columns = self._columns
        first_store = self.first_live
        for position in range(in_flight.count):
            index = (in_flight.head + position) & in_flight.mask
            first = in_flight.firsts[index]
            for uop in range(first, first + in_flight.seconds[index]):
                kind = self._program.u_kind[columns.static[uop]]
                if kind == STORE_DATA and columns.store[uop] < first_store:
                    first_store = columns.store[uop]
                if kind == LOAD and columns.dispatched[uop] == UNKNOWN:
                    state.add(columns.words[uop] & ((1 << LINE_WORDS) - 1))
                    state.add(self._number_of(_ORIGIN * (columns.words[uop] >> LINE_WORDS)))
        return first_store

    def _record_symbol(self, state: Record, symbol: Long) -> None:
        if self._is_number(symbol):
            state.add(NONE)
            state.add(symbol & (_PAGE - 1) if self._one_page else symbol)
            return
        seen = self._seen
        number = self._number_of(symbol)
        state.add(number)
        if number < seen:
            state.add(symbol - self._seen_symbol[number])
        elif self._lines_matter:
            state.add(symbol & (CODE_LINE - 1))

    def _number_of(self, symbol: Long) -> int:
        """Number of a symbolic value's origin within this record."""
        number = 0
        while number < self._seen and abs(self._seen_symbol[number] - symbol) >= _HALF:
            number += 1
        if number == self._seen:
            if number == len(self._seen_symbol):
                self._seen_symbol = grown(self._seen_symbol, 2 * number)
            self._seen_symbol[number] = symbol
            self._seen = number + 1
        return number

    def copy(self, source: int, target: int) -> None:
        """An eliminated move copies the symbolic value."""
        self.symbol[target] = self.symbol[source]

    def continued(self, i: int) -> Long:
        """The symbolic value that an instruction's results continue, if they have no new origins (4.2)."""
        if self._program.exact_values:
            return self._value(i)
        source = self._program.i_symbol_source[i]
        if source < 0:
            return _NO_SYMBOL
        return self.symbol[source] + self._program.i_symbol_delta[i]

    def _value(self, i: int) -> Long:
        """The value of an instruction's result, if it is known in terms of other values (``values``)."""
        program = self._program
        kind = program.i_value_kind[i]
        if kind == LOADED and self._all_words_equal and not self._from_store:
            return self._word
        if kind != SUM:
            return _NO_SYMBOL
        value = program.i_value_delta[i]
        base = program.i_value_base[i]
        index = program.i_value_index[i]
        if base >= 0:
            value += self.symbol[base]
        if index >= 0:
            if not self._is_number(self.symbol[index]) and not self._is_number(value):
                return _NO_SYMBOL
            if not self._is_number(self.symbol[index]) and program.i_value_scale[i] != 1:
                return _NO_SYMBOL
            value += self.symbol[index] * program.i_value_scale[i]
        return value

    def move_stack(self, i: int) -> None:
        """An instruction with an implicit use of the stack moves RSP; the published model does not follow
        that."""
        if self._program.exact_values and self._program.i_rsp_step[i]:
            self.symbol[self._program.rsp] += self._program.i_rsp_step[i]

    def result(self, key: int, continued: Long) -> None:
        """A result for this register becomes visible."""
        self.symbol[key] = self._new_origin() if continued == _NO_SYMBOL else continued
