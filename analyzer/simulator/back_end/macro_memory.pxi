# Finds the store that each load reads from, on a core that counts macro-ops (M18, M19, M26).


@cython.final
cdef class MacroMemory:
    """Memory accesses as the renamer sees them. ``base``, ``index``: the values that an address is made
    from, or NONE."""

    cdef Tables tables
    cdef Program program
    cdef Operations operations
    cdef InFlight flight
    cdef Emulator emulator
    cdef LinesOfOnePage _one_page
    cdef LoadRenaming _load_renaming
    cdef int _forwarding
    cdef int _to_change
    cdef int _crowded
    cdef int _vector_forwarding
    cdef int _to_integer
    cdef int _to_vector
    cdef int _from_address
    cdef int chunk  # Bytes that the cache takes from a store at once.
    cdef int _alike
    cdef bint _changes_leave_singly
    cdef bint crosses  # Whether the current load crosses a line boundary.

    def __init__(
        self,
        MacroTables macro,
        microarchitecture,
        Emulator emulator,
        LinesOfOnePage one_page,
        LoadRenaming load_renaming,
    ):
        rules = microarchitecture.macro_ops
        assert rules is not None
        self.tables = macro.tables
        self.program = macro.tables.program
        self.operations = macro.operations
        self.flight = macro.flight
        self.emulator = emulator
        self._one_page = one_page
        self._load_renaming = load_renaming
        self._forwarding = rules.forwarding
        self._to_change = rules.change_forwarding
        self._crowded = rules.crowded_loads
        self._vector_forwarding = rules.vector_forwarding
        self._to_integer = rules.vector_to_integer_forwarding
        self._to_vector = rules.integer_to_vector_forwarding
        self._from_address = rules.forwarding_from_address
        self.chunk = rules.store_chunk_bytes or CODE_LINE
        self._alike = rules.false_renaming_bytes
        self._changes_leave_singly = rules.changes_leave_singly
        self.crosses = False

    cdef void start(self) noexcept nogil:
        """Reset: nothing was accessed."""
        self._load_renaming.start()

    cdef int record(self, Record state) except -1 nogil:
        """Record this part of the pipeline's state."""
        self._load_renaming.record(state)

    cdef void open_store(self, int number, int static, int base, int index) noexcept nogil:
        """A store begins with its address uop."""
        cdef Uop *uop = &self.tables.uop[number]
        cdef StoreEntry *store
        cdef BlockUop *block_uop = &self.program.uop[static]
        cdef long long address
        address = self.emulator.address(static, uop.position, uop.instance)
        self.emulator.store_address = address
        place = self.tables.new_store()
        store = &self.tables.store[place]
        uop.store = place
        store.base = address
        store.bytes = block_uop.bytes
        slot = place & self.flight.store_mask
        self.flight.s_base_key[slot] = block_uop.base
        self.flight.s_base_value[slot] = base
        self.flight.s_index_value[slot] = index
        self.flight.s_vector[slot] = self.operations.t_traits[static] & VECTOR_TRAIT
        self.flight.s_read[slot] = 0
        self.flight.s_crosses[slot] = self.crossing(address, block_uop.bytes)
        # The value has no latency: it is ready when the address uop is picked.
        self.flight.s_picked[slot] = self.tables.new_value(number, 0)

    cdef int crossing(self, long long address, int size) noexcept nogil:
        """Whether a store crosses the end of its page (2), only of its chunk (1), or neither (0)."""
        if address % PAGE + size > PAGE:
            return 2
        return 1 if address % self.chunk + size > self.chunk else 0

    cdef int load(self, int number, int static, int base, int index) noexcept nogil:
        """Source of a load: the row of a stored value if the load is renamed to it, NONE for memory, less if
        it forwards from the store named in ``store``."""
        cdef Uop *uop = &self.tables.uop[number]
        cdef long long address
        address = self.emulator.address(static, uop.position, uop.instance)
        self.emulator.load_address = address
        self._one_page.read(number, address)
        self.crosses = address % CODE_LINE + self.program.uop[static].bytes > CODE_LINE
        if self.crosses:
            self.flight.u_slots[number & self.flight.uop_mask] = 2
        uop.blocked = uop.renamed = uop.collided = 0
        return self._find_store(number, address, base, index)

    cdef int _find_store(self, int number, long long address, int base, int index) noexcept nogil:
        cdef Uop *uop = &self.tables.uop[number]
        cdef long long ahead, offset
        cdef bint other_page
        size = self.program.uop[uop.static].bytes
        store = self.tables.stores - 1
        while store >= self.flight.oldest_store:
            ahead = address - self.tables.store[store].base
            other_page = False
            if self._one_page.active and self.flight.decoded:
                # Loops learn that such accesses do not overlap; straight-line code forwards between pages.
                offset = (ahead + PAGE // 2 & PAGE - 1) - PAGE // 2
                other_page = offset != ahead
                ahead = offset
            stored = self.tables.store[store].bytes
            if -size < ahead < stored:
                uop.store = store
                if ahead < 0 or ahead + size > stored:
                    uop.blocked = BLOCKED
                    return NONE
                if (
                    ahead == 0
                    and not other_page
                    and self._load_renaming.takes_over(number, store, base, index)
                ):
                    uop.store = NONE
                    uop.renamed = 1
                    self._receive(number, store, 1)
                    return self.flight.s_source[store & self.flight.store_mask]
                self._receive(number, store, 2)
                self.flight.u_after_address[number & self.flight.uop_mask] = self._from_address
                return NONE - 1
            if (
                self._alike
                and ahead % self._alike == 0
                and self._load_renaming.mistakes(number, store, base, index)
            ):
                uop.store = store
                uop.blocked = MISTAKEN
                return NONE
            store -= 1
        return NONE

    cdef void _receive(self, int number, int store, int how) noexcept nogil:
        """Note that data of a store reach a load."""
        self.flight.u_receives[number & self.flight.uop_mask] = how
        traits = self.operations.t_traits[self.tables.uop[number].static]
        if self._changes_leave_singly or not traits & SHARES_ADDRESS_TRAIT:
            self.flight.s_read[store & self.flight.store_mask] = 1
        if how > 1:
            self.flight.forwarding += 1

    cdef int forwarding_latency(self, int store, int static) noexcept nogil:
        """Cycles from the store's data to the load's result."""
        cdef bint crowded
        traits = self.operations.t_traits[static]
        if self.flight.s_vector[store]:
            return self._vector_forwarding if traits & VECTOR_TRAIT else self._to_integer
        if traits & VECTOR_TRAIT:
            return self._to_vector
        # The load itself is counted already.
        if traits & READ_MODIFY_WRITE_TRAIT and traits & SHARES_ADDRESS_TRAIT:
            return self._to_change
        crowded = self._crowded and self.flight.forwarding > self._crowded
        return self._forwarding + crowded - (1 if traits & READ_MODIFY_WRITE_TRAIT else 0)

    cdef void execute(self, int i, int instance) noexcept nogil:
        """Carry out the effect of a renamed instruction on registers and words."""
        self.emulator.execute(i, instance)
