"""Finds the store that each load reads from, on a core that counts macro-ops (M18, M19, M26)."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.uops import Trait
from cyclelens.analyzer.simulator.back_end.emulator import Emulator
from cyclelens.analyzer.simulator.back_end.load_renaming import LoadRenaming
from cyclelens.analyzer.simulator.back_end.one_page import LinesOfOnePage
from cyclelens.analyzer.simulator.tables.arrays import Long, Record
from cyclelens.analyzer.simulator.tables.constants import BLOCKED, MISTAKEN, NONE
from cyclelens.analyzer.simulator.tables.macro_tables import MacroTables

_VECTOR, _READ_MODIFY_WRITE = int(Trait.VECTOR), int(Trait.READ_MODIFY_WRITE)
_LINE = 64
_PAGE = 4096


class MacroMemory:
    """Memory accesses as the renamer sees them. ``base``, ``index``: the values that an address is made
    from, or NONE."""

    def __init__(
        self,
        tables: MacroTables,
        microarchitecture: Microarchitecture,
        emulator: Emulator,
        one_page: LinesOfOnePage,
        load_renaming: LoadRenaming,
    ) -> None:
        rules = microarchitecture.macro_ops
        assert rules is not None
        self._columns = tables.columns
        self._program = tables.columns.program
        self._operations = tables.operations
        self._flight = tables.flight
        self.emulator: Emulator = emulator
        self._one_page = one_page
        self._load_renaming = load_renaming
        self._forwarding: int = rules.forwarding
        self._vector_forwarding: int = rules.vector_forwarding
        self._to_integer: int = rules.vector_to_integer_forwarding
        self._to_vector: int = rules.integer_to_vector_forwarding
        self._from_address: int = rules.forwarding_from_address
        self.chunk: int = rules.store_chunk_bytes or _LINE
        """Bytes that the cache takes from a store at once."""
        self._alike: int = rules.false_renaming_bytes
        self.crosses = False
        """Whether the current load crosses a line boundary."""

    def start(self) -> None:
        """Reset: nothing was accessed."""
        self._load_renaming.start()

    def record(self, state: Record) -> None:
        """Record this part of the pipeline's state."""
        self._load_renaming.record(state)

    def open_store(self, uop: int, static: int, base: int, index: int) -> None:
        """A store begins with its address uop."""
        columns = self._columns
        program = self._program
        flight = self._flight
        address: Long = self.emulator.address(static, columns.position[uop], columns.instance[uop])
        self.emulator.store_address = address
        store = columns.new_store()
        columns.store[uop] = store
        columns.store_base[store] = address
        columns.store_bytes[store] = program.u_bytes[static]
        slot = store & flight.store_mask
        flight.s_base_key[slot] = program.u_base[static]
        flight.s_base_value[slot] = base
        flight.s_index_value[slot] = index
        flight.s_vector[slot] = self._operations.t_traits[static] & _VECTOR
        flight.s_crosses[slot] = self.crossing(address, program.u_bytes[static])
        # The value has no latency: it is ready when the address uop is picked.
        flight.s_picked[slot] = columns.new_value(uop, 0)

    def crossing(self, address: Long, size: int) -> int:
        """Whether a store crosses the end of its page (2), only of its chunk (1), or neither (0)."""
        if address % _PAGE + size > _PAGE:
            return 2
        return 1 if address % self.chunk + size > self.chunk else 0

    def load(self, uop: int, static: int, base: int, index: int) -> int:
        """Source of a load: the row of a stored value if the load is renamed to it, NONE for memory, less if
        it forwards from the store named in ``store``."""
        columns = self._columns
        address: Long = self.emulator.address(static, columns.position[uop], columns.instance[uop])
        self.emulator.load_address = address
        self._one_page.read(uop, address)
        self.crosses = address % _LINE + self._program.u_bytes[static] > _LINE
        if self.crosses:
            self._flight.u_slots[uop & self._flight.uop_mask] = 2
        columns.blocked[uop] = columns.renamed[uop] = columns.collided[uop] = 0
        return self._find_store(uop, address, base, index)

    def _find_store(self, uop: int, address: Long, base: int, index: int) -> int:
        columns = self._columns
        flight = self._flight
        size = self._program.u_bytes[columns.static[uop]]
        store = columns.stores - 1
        while store >= flight.oldest_store:
            ahead: Long = address - columns.store_base[store]
            other_page: bool = False
            if self._one_page.active and flight.decoded:
                # Loops learn that such accesses do not overlap; straight-line code forwards between pages.
                offset: Long = (ahead + _PAGE // 2) % _PAGE - _PAGE // 2
                other_page = offset != ahead
                ahead = offset
            stored = columns.store_bytes[store]
            if -size < ahead < stored:
                columns.store[uop] = store
                if ahead < 0 or ahead + size > stored:
                    columns.blocked[uop] = BLOCKED
                    return NONE
                if ahead == 0 and not other_page and self._load_renaming.takes_over(uop, store, base, index):
                    columns.store[uop] = NONE
                    columns.renamed[uop] = 1
                    return flight.s_source[store & flight.store_mask]
                flight.u_after_address[uop & flight.uop_mask] = self._from_address
                return NONE - 1
            if (
                self._alike
                and ahead % self._alike == 0
                and self._load_renaming.mistakes(uop, store, base, index)
            ):
                columns.store[uop] = store
                columns.blocked[uop] = MISTAKEN
                return NONE
            store -= 1
        return NONE

    def forwarding_latency(self, store: int, static: int) -> int:
        """Cycles from the store's data to the load's result."""
        traits = self._operations.t_traits[static]
        if self._flight.s_vector[store]:
            return self._vector_forwarding if traits & _VECTOR else self._to_integer
        if traits & _VECTOR:
            return self._to_vector
        return self._forwarding - (1 if traits & _READ_MODIFY_WRITE else 0)
