"""Pairs of units whose uops alternate regardless of load: load ports, store ports."""

from __future__ import annotations


class Alternation:
    """Remembers which unit of each pair is next."""

    def start(self) -> None:
        """Reset: the higher unit of every pair is first."""
        self.toggles = 0
        """Bits of the pairs whose next uop takes the higher unit."""

    def next(self, units: int) -> int:
        """Mask of the unit for the next uop of a pair."""
        self.toggles ^= units
        low = units & -units
        return low if self.toggles & low else units ^ low
