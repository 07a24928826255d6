"""What the renamer asks of the rule by which it carries out additions of constants itself."""

from __future__ import annotations

from cyclelens.analyzer.simulator.tables.arrays import ints
from cyclelens.analyzer.simulator.tables.program import Program


class Addition:
    """Decides which additions need no unit, and follows what registers owe for that. A core that names no
    rule has this one: none is carried out."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self.active = False
        """Whether anything can ever be owed."""
        self.owed = ints(0)
        """By rename key what the rule has to remember of a register, 0 if nothing is owed."""

    def start(self) -> None:
        """Nothing is owed."""
        keys = self._program.keys
        if keys > len(self.owed):
            self.owed = ints(2 * keys)
        for key in range(keys):
            self.owed[key] = 0

    def fits(self, i: int) -> bool:
        """Whether an instruction's constant can be owed too. If not, its uop is executed."""
        return False

    def owed_then(self, i: int) -> int:
        """What is owed to the target of an instruction that is carried out."""
        return 0

    def penalty(self, i: int) -> int:
        """Cycles that an instruction takes longer because of constants owed."""
        return 0
