"""Pseudo-random choices that are the same in every run with the same seed."""

from __future__ import annotations

from cyclelens.analyzer.simulator.tables.arrays import Long

_MODULUS = 1 << 31
_MULTIPLIER = 1103515245
_INCREMENT = 12345
_USED_BITS = 15


class Chance:
    """A linear congruential generator with the constants of the example in the C standard."""

    def __init__(self, seed: int) -> None:
        self._seed: Long = seed & (_MODULUS - 1)
        self.state: Long = self._seed

    def start(self) -> None:
        """Reset to the seed."""
        self.state = self._seed

    def one_of(self, units: int) -> int:
        """One unit of the mask, each with the same probability."""
        count = 0
        rest = units
        while rest:
            count += rest & 1
            rest >>= 1
        self.state = (self.state * _MULTIPLIER + _INCREMENT) & (_MODULUS - 1)
        # The low bits of such a generator are not random enough.
        left = (self.state >> _USED_BITS) % count
        unit = 0
        while left > 0 or not units >> unit & 1:
            left -= units >> unit & 1
            unit += 1
        return unit
