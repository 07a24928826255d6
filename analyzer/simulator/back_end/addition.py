"""Interface of the rule by which the renamer carries out additions of constants."""

from __future__ import annotations

from cyclelens.analyzer.simulator.tables.arrays import ints
from cyclelens.analyzer.simulator.tables.program import Program


class Addition:
    """Decides which additions need no unit, and tracks the constants owed to registers. This base class
    carries out none; cores without a rule use it."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self.active = False
        """Whether a constant can ever be owed."""
        self.owed = ints(0)
        """State of the rule by rename key; 0 if nothing is owed to the register."""

    def start(self) -> None:
        """Reset: nothing is owed."""
        keys = self._program.keys
        if keys > len(self.owed):
            self.owed = ints(2 * keys)
        for key in range(keys):
            self.owed[key] = 0

    def fits(self, i: int) -> bool:
        """Whether the constant of instruction ``i`` can be owed as well. If not, its uop is executed."""
        return False

    def owed_then(self, i: int) -> int:
        """State of the target after the renamer carried out instruction ``i``."""
        return 0

    def penalty(self, i: int) -> int:
        """Extra cycles of instruction ``i`` because constants are owed to its operands."""
        return 0
