"""What each way through a region that branches within itself takes, and how often it is gone."""

from __future__ import annotations

from collections.abc import Mapping

from cyclelens.analyzer.common.data_classes import dataclass
from cyclelens.analyzer.common.named_tuple import NamedTuple
from cyclelens.analyzer.model.source import Branching


class Path(NamedTuple):
    """A way through a region that branches within itself."""

    blocks: tuple[int, ...]
    """Its basic blocks, in the order of execution."""
    taken: tuple[bool | None, ...]
    """For every fork of the region whether it jumps there; None if it does not come to it."""
    share: float | None
    """How often it is gone, if that is said."""
    cycles: Mapping[str, float]
    """Per iteration if it is always gone, by microarchitecture; without those that cannot run it."""


class BlockFigure(NamedTuple):
    """A basic block of such a region."""

    name: str
    first_line: int
    last_line: int
    cycles: Mapping[str, float]
    """Of the block repeated by itself, or of the loop that it is, by microarchitecture."""
    executions: float | None
    """In an iteration of the region, if that is known."""


@dataclass(frozen=True, slots=True)
class Weight:
    """How much a region matters in a recorded profile."""

    iterations: float
    """Of the loop, or times that it was executed, as far as branches tell."""
    samples: float
    """That hit one of its instructions."""
    share: float
    """Of the cycles that all regions together took there."""


@dataclass(frozen=True, slots=True)
class BranchingAnalysis:
    """What each way through a region takes, or each of its blocks."""

    branching: Branching
    given: str
    """Who says how often its branches jump: ``with taken=0.9``; empty if nobody does."""
    shares: tuple[float | None, ...]
    """The same for every fork, if it is known."""
    ways: tuple[Path, ...]
    """None if there are many, or loops within the region."""
    assumed: int
    """The way that the region's own figures are about, if there are any."""
    blocks: tuple[BlockFigure, ...]
    averages: Mapping[str, float]
    """Cycles per iteration as often as each way is gone, or each block executed, by microarchitecture; empty
    without shares."""
    weight: Weight | None = None
    """In a recorded profile, if there is one."""

    @property
    def way(self) -> tuple[int, ...]:
        """The blocks of the way that the region's own figures are about."""
        return self.ways[self.assumed].blocks
