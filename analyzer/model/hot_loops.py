"""The hottest loops of a recorded profile."""

from __future__ import annotations

from cyclelens.analyzer.model.paths import BranchingAnalysis
from cyclelens.analyzer.model.result import RegionAnalysis
from msgspec import Struct


class HotLoop(Struct, frozen=True):
    """A loop, or a marked region, that samples hit."""

    file: str
    """Path of its program or library in the profile."""
    samples: float
    share: float
    """Part of all samples of the profile, 0 to 1."""
    region: RegionAnalysis
    """Its analysis; if it branches within itself, that of its most frequent path."""
    branching: BranchingAnalysis | None = None


class Remainder(Struct, frozen=True):
    """Samples that hit none of the listed loops."""

    share: float
    """Part of all samples of the profile, 0 to 1."""
    reason: str
    """Where they are, or why their code was not analysed: ``in the kernel``."""


class HotLoops(Struct, frozen=True):
    """The hottest loops, hottest first. Their shares and those of the remainders add up to 1."""

    event: str
    """The sampled event; empty if not known."""
    samples: float
    loops: tuple[HotLoop, ...]
    rest: tuple[Remainder, ...]
    messages: tuple[str, ...] = ()
    """What the analysis reports about the profile itself, each once."""
