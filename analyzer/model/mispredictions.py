"""What mispredicted branches add to a figure, as a sum with its parts."""

from __future__ import annotations

from cyclelens.analyzer.model.source import JumpPlace
from msgspec import Struct


class MispredictedBranch(Struct, frozen=True):
    """A conditional jump of a region."""

    jump: JumpPlace
    share: float
    """Share of its executions that are mispredicted, 0 to 1."""
    executions: float
    """Executions per iteration of the region."""


class BranchFree(Struct, frozen=True):
    """A version of a region without its only inner branch, which always does the work of both paths."""

    jump: JumpPlace
    cycles: float
    """Cycles per iteration, at least about: those of the path through all blocks."""


class Mispredictions(Struct, frozen=True):
    """The cycles per iteration of a region on one core with its mispredicted branches."""

    given: str
    """Where the shares come from: ``with mispredicted=0.1``."""
    branches: tuple[MispredictedBranch, ...]
    """Those with a share above 0, in code order."""
    base: float
    """Cycles per iteration if every branch is predicted: the average over the paths if their shares are
    known, otherwise the figure of the path that is shown."""
    penalty: float | None
    """Cycles per mispredicted branch; None if the core's is not known."""
    penalty_source: str = ""
    """How certain the penalty is and where it comes from."""
    least: bool = False
    """The shares are lower bounds, because their source does not see every misprediction."""
    without: BranchFree | None = None
    """None unless the region has one inner branch, and a path through all blocks."""

    @property
    def count(self) -> float:
        """Mispredicted branches per iteration."""
        return sum(each.share * each.executions for each in self.branches)

    @property
    def cycles(self) -> float:
        """Cycles per iteration; ``base`` alone, a lower bound, if the penalty is not known."""
        return self.base + self.added

    @property
    def added(self) -> float:
        """Cycles per iteration that the mispredicted branches add; 0 if the penalty is not known."""
        return self.count * (self.penalty or 0.0)

    @property
    def break_even(self) -> float | None:
        """Share of mispredictions from which a version without the branch can win; None if not known."""
        if self.without is None or self.penalty is None:
            return None
        return max(self.without.cycles - self.base, 0.0) / self.penalty

    @property
    def is_lower_bound(self) -> bool:
        """Whether the region takes at least these cycles, but maybe more."""
        return self.count > 0 and (self.penalty is None or self.least)
