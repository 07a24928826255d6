# Memory renaming of macro-ops: a load takes over the value of a store whose address is made from the same
# values (M18).

cdef enum:
    _NARROWEST = 4  # Smallest load, in bytes, that is renamed.
    _HASH = 40503


cdef class SameRegisters(LoadRenaming):
    """Vectors and narrow loads are forwarded instead. In loops a predictor learns loads through other
    registers."""

    cdef int _learnt
    cdef int _unlearnt
    cdef int _unkeyed  # Loads of the program that read data of a store through other registers.

    def __init__(self, Tables tables, microarchitecture, Operations operations, InFlight in_flight):
        super().__init__(tables, operations, in_flight)
        rules = microarchitecture.macro_ops
        assert rules is not None
        self._learnt = rules.learnt_loads
        self._unlearnt = rules.unlearnt_loads

    cdef void start(self) noexcept nogil:
        """Reset: nothing was loaded."""
        self._unkeyed = 0

    cdef int record(self, Record state) except -1 nogil:
        """Record this part of the pipeline's state."""
        state.add(self._unkeyed)

    cdef bint takes_over(self, int uop, int store, int base, int index) noexcept nogil:
        """Whether a load takes over the value of a store. ``base``, ``index``: the values that its address
        is made from, or NONE."""
        slot = store & self.flight.store_mask
        static = self.tables.uop[uop].static
        traits = self.operations.t_traits[static]
        if self.flight.s_vector[slot] or traits & VECTOR_TRAIT:
            return False
        if self.program.uop[static].bytes < _NARROWEST and not traits & READ_MODIFY_WRITE_TRAIT:
            return False
        return self._same(static, slot, base, index) or self._knows(uop)

    cdef bint mistakes(self, int uop, int store, int base, int index) noexcept nogil:
        """Whether a load of other bytes than the store's is mistaken for one that reads them, because its
        displacement looks like the store's."""
        slot = store & self.flight.store_mask
        static = self.tables.uop[uop].static
        if base == NONE or self.flight.s_base_value[slot] != base or self.flight.s_index_value[slot] != index:
            return False
        if self.flight.s_vector[slot] or self.operations.t_traits[static] & VECTOR_TRAIT:
            return False
        return min(self.program.uop[static].bytes, self.tables.store[store].bytes) >= _NARROWEST

    cdef bint _copies(self, int static, int traits) noexcept nogil:
        """Whether the loaded word goes to a register, or is read, modified and written."""
        if traits & READ_MODIFY_WRITE_TRAIT:
            return True
        result = self.program.uop[static].out0
        return self.program.uop[static].out_count > 0 and not self.program.result[result].internal

    cdef bint _same(self, int static, int slot, int base, int index) noexcept nogil:
        """Whether the store's address is made from the same values, or both use the stack pointer."""
        if self.flight.s_index_value[slot] != index:
            return False
        if (
            self.program.uop[static].base == self.program.rsp
            and self.flight.s_base_key[slot] == self.program.rsp
        ):
            return True
        return self.flight.s_base_value[slot] == base

    cdef bint _knows(self, int uop) noexcept nogil:
        """Whether a predictor has learnt to rename this load although the registers differ: in loops with
        few such loads."""
        if not self.program.loop:
            return False
        i = self.tables.uop[uop].position
        if not self.operations.m_load_seen[i]:
            self.operations.m_load_seen[i] = 1
            self._unkeyed += 1
            return self.flight.small_loop
        if self.flight.small_loop or self._unkeyed <= self._learnt:
            return True
        if self._unkeyed >= self._unlearnt:
            return False
        # Which loads the predictor holds is not known; the model always takes the same ones.
        share = (self._unlearnt - self._unkeyed) * 1024 // (self._unlearnt - self._learnt)
        return (i * _HASH >> 4) % 1024 < share
