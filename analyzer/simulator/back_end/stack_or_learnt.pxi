# Memory renaming by the stack pointer and by learnt loads (M36).


@cython.final
cdef class StackOrLearnt(SameRegisters):
    """A load that copies a word, or that of a read-modify-write, is renamed if both addresses are made from
    the stack pointer. In loops a predictor learns other loads, as long as they are few: all or none."""

    cdef int _distance

    def __init__(self, Tables tables, microarchitecture, Operations operations, InFlight in_flight):
        super().__init__(tables, microarchitecture, operations, in_flight)
        rules = microarchitecture.macro_ops
        assert rules is not None
        self._distance = rules.renaming_distance

    cdef bint takes_over(self, int uop, int store, int base, int index) noexcept nogil:
        """Whether a load takes over the value of a store. ``base``, ``index``: the values that its address
        is made from, or NONE."""
        slot = store & self.flight.store_mask
        static = self.tables.uop[uop].static
        traits = self.operations.t_traits[static]
        if self.flight.s_vector[slot] or traits & VECTOR_TRAIT:
            return False
        if self.program.uop[static].bytes < _NARROWEST or not self._copies(static, traits):
            return False
        if self._of_stack(static, slot, index):
            return self._near(store)
        if not self.program.loop:
            return False
        i = self.tables.uop[uop].position
        if not self.operations.m_load_seen[i]:
            self.operations.m_load_seen[i] = 1
            self._unkeyed += 1
        return self._unkeyed <= self._learnt and self._near(store)

    cdef bint _near(self, int store) noexcept nogil:
        return self.tables.stores - 1 - store <= self._distance

    cdef bint _of_stack(self, int static, int slot, int index) noexcept nogil:
        """Whether both addresses are made from the stack pointer alone."""
        return (
            index == NONE
            and self.flight.s_index_value[slot] == NONE
            and self.program.uop[static].base == self.program.rsp
            and self.flight.s_base_key[slot] == self.program.rsp
        )
