# Memory renaming by the names of registers (M40).


@cython.final
cdef class SameNames(SameRegisters):
    """A load that copies a word, or that of a read-modify-write, is renamed to a store through the same
    register. In loops a predictor learns other loads."""

    cdef bint takes_over(self, int uop, int store, int base, int index) noexcept nogil:
        """Whether a load takes over the value of a store. ``base``, ``index``: the values that its address
        is made from, or NONE."""
        static = self.tables.uop[uop].static
        if self.program.uop[static].bytes < _NARROWEST:
            return False
        if not self._copies(static, self.operations.t_traits[static]):
            return False
        return SameRegisters.takes_over(self, uop, store, base, index)

    cdef bint _same(self, int static, int slot, int base, int index) noexcept nogil:
        """Whether the store's address is made from the same value of the same register."""
        if self.program.uop[static].base != self.flight.s_base_key[slot]:
            return False
        return SameRegisters._same(self, static, slot, base, index)
