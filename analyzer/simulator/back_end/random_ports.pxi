# Random binding, for ablation studies: all units that a uop may take have the same probability.


cdef class RandomPorts(Binding):
    """Ignores how many uops wait for each unit."""

    cdef Chance _chance

    def __init__(self, Tables tables, microarchitecture, Queues queues, Entries entries, seed):
        super().__init__(tables, microarchitecture, queues, entries)
        self._chance = Chance(seed)

    cdef int start(self) except -1:
        """Reset: no uop is bound."""
        Binding.start(self)
        self._chance.start()

    cdef int choose(self, int units, int slot) noexcept nogil:
        """One of the allowed units, each with the same probability."""
        return self._chance.one_of(units)
