"""Sets of two units whose uops take turns, whatever else happens: load ports, store ports."""

from __future__ import annotations


class Alternation:
    """Remembers of every such set which unit comes next."""

    def start(self) -> None:
        """The higher unit of every set comes first."""
        self.toggles = 0
        """Bits of the sets whose next uop takes the higher unit."""

    def next(self, units: int) -> int:
        """The mask of the unit for the next uop of a set of two."""
        self.toggles ^= units
        low = units & -units
        return low if self.toggles & low else units ^ low
