"""Figures and shares of the paths through a region with inner branches."""

from __future__ import annotations

from collections.abc import Mapping

from cyclelens.analyzer.model.mispredictions import Mispredictions
from cyclelens.analyzer.model.source import Branching
from msgspec import Struct, field


class Path(Struct, frozen=True):
    """A path through a region with inner branches."""

    blocks: tuple[int, ...]
    """Indices of its basic blocks, in order of execution."""
    taken: tuple[bool | None, ...]
    """Whether it jumps at each fork of the region; None for forks that it does not reach."""
    share: float | None
    """Share of iterations, 0 to 1; None if not known."""
    cycles: Mapping[str, float]
    """Cycles per iteration if it is always taken, by core; cores that cannot run it are absent."""


class BlockFigure(Struct, frozen=True):
    """A basic block of such a region."""

    name: str
    first_line: int
    last_line: int
    cycles: Mapping[str, float]
    """Cycles per iteration of the block repeated by itself, or of the loop that it is, by core."""
    executions: float | None
    """Executions per iteration of the region; None if not known."""


class Weight(Struct, frozen=True):
    """How much a region matters in a recorded profile."""

    iterations: float
    """Iterations of the loop, or executions, as far as branches tell."""
    samples: float
    """Samples that hit its instructions."""
    share: float
    """Share of the cycles of all regions in the profile, 0 to 1."""


class BranchingAnalysis(Struct, frozen=True):
    """Figures of each path through a region, or of each of its blocks."""

    branching: Branching
    given: str
    """Where the shares of jumps come from: ``with taken=0.9``; empty without shares."""
    shares: tuple[float | None, ...]
    """Share of jumps of each fork; None where not known."""
    paths: tuple[Path, ...]
    """Empty if there are too many, or if the region contains loops."""
    assumed: int
    """Index of the path that the region's own figures are for."""
    blocks: tuple[BlockFigure, ...]
    averages: Mapping[str, float]
    """Average cycles per iteration over paths or blocks, weighted by the shares, by
    core; empty without shares."""
    weight: Weight | None = None
    """Weight in a recorded profile; None without one."""
    mispredictions: Mapping[str, Mispredictions] = field(default_factory=dict)
    """What mispredicted branches add, by core; empty unless the user or a profile says how often they are."""

    @property
    def path(self) -> tuple[int, ...]:
        """The blocks of the path that the region's own figures are for."""
        return self.paths[self.assumed].blocks
