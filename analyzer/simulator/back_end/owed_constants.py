"""Additions of constants in the renamer: it gives the target the source's value and notes the constant that
it owes (V9; measured by tavianator.com/2025/shlxplained.html)."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.simulator.back_end.addition import Addition
from cyclelens.analyzer.simulator.tables.constants import NONE
from cyclelens.analyzer.simulator.tables.program import Program

_RARE = 32
"""Constants below this use up the range less than once in that many rounds. They are not summed up, so that
the pipeline's state can repeat."""
_OWES = 1 << 16
"""Added to every sum, so that 0 means that nothing is owed."""
_PENALTY = 2
"""Extra cycles of an instruction that cannot use an operand with a constant owed."""


class OwedConstants(Addition):
    """``owed``: 0, or ``_OWES`` plus the sum of the constants."""

    def __init__(self, program: Program, microarchitecture: Microarchitecture) -> None:
        super().__init__(program)
        self.active = True
        self._limit = microarchitecture.add_offset_limit

    def fits(self, i: int) -> bool:
        """Whether the constant of instruction ``i`` can be owed as well. If not, its uop is executed."""
        total = self.owed_then(i) - _OWES
        return -self._limit <= total < self._limit

    def owed_then(self, i: int) -> int:
        """State of the target after the renamer carried out instruction ``i``."""
        program = self._program
        source = program.i_move_source[i]
        total = _OWES
        if source >= 0 and self.owed[source]:
            total = self.owed[source]
        constant = program.i_added[i]
        if constant >= _RARE or constant <= -_RARE:
            total += constant
        return total

    def penalty(self, i: int) -> int:
        """Extra cycles of instruction ``i`` because constants are owed to its operands."""
        first = self._program.i_offset_key0[i]
        second = self._program.i_offset_key1[i]
        if (first != NONE and self.owed[first]) or (second != NONE and self.owed[second]):
            return _PENALTY
        return 0
