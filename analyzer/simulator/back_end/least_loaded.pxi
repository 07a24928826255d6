# Binding as UFS does it, for comparison with its paper.


cdef class LeastLoaded(Binding):
    """The port with the fewest waiting uops, those bound earlier in the cycle among them; the lowest number
    wins a tie (Palomares and others 2015, on the binding of uops to ports)."""

    cdef int choose(self, int units, int slot) noexcept nogil:
        """The least loaded of these ports."""
        best = NONE
        for unit in range(self._units):
            if units >> unit & 1 and (best == NONE or self.usage[unit] < self.usage[best]):
                best = unit
        return best
