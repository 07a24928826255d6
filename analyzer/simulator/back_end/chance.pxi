# Pseudo-random choices that are the same in every run with the same seed.

cdef long long _MODULUS = 2147483648
cdef enum:
    _CHANCE_MULTIPLIER = 1103515245
    _CHANCE_INCREMENT = 12345
    _USED_BITS = 15


@cython.final
cdef class Chance:
    """A linear congruential generator with the constants of the example in the C standard."""

    cdef long long _seed
    cdef long long state

    def __init__(self, seed):
        self._seed = seed & (_MODULUS - 1)
        self.state = self._seed

    cdef void start(self) noexcept nogil:
        """Reset to the seed."""
        self.state = self._seed

    cdef int one_of(self, int units) noexcept nogil:
        """One unit of the mask, each with the same probability."""
        count = 0
        rest = units
        while rest:
            count += rest & 1
            rest >>= 1
        self.state = (self.state * _CHANCE_MULTIPLIER + _CHANCE_INCREMENT) & (_MODULUS - 1)
        # The low bits of such a generator are not random enough.
        left = (self.state >> _USED_BITS) % count
        unit = 0
        while left > 0 or not units >> unit & 1:
            left -= units >> unit & 1
            unit += 1
        return unit
