"""Zen 3 to 5: the renamer eliminates every eligible register move (M7)."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.simulator.back_end.elimination import Elimination
from cyclelens.analyzer.simulator.tables.columns import Columns


class EveryMove(Elimination):
    """Does not count the values that registers share."""

    def __init__(self, columns: Columns, microarchitecture: Microarchitecture) -> None:
        super().__init__()

    def decide(self, register_class: int) -> bool:
        """Whether the next move of this class in the cycle is eliminated."""
        return True
