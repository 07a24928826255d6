"""What a recorded profile says, whatever wrote it."""

from __future__ import annotations

from collections.abc import Mapping

from cyclelens.analyzer.common.data_classes import dataclass, field
from cyclelens.analyzer.common.named_tuple import NamedTuple


class CodeLocation(NamedTuple):
    """An instruction: by its distance from a symbol, by its address, or both."""

    symbol: str
    """Empty if it has none."""
    offset: int
    address: int | None


class Mapped(NamedTuple):
    """Where a file lay in memory while the profile was recorded."""

    start: int
    size: int
    offset: int
    """Of its first byte, in the file."""
    path: str


@dataclass(frozen=True, slots=True)
class Profile:
    """Counts by place. One of ``runs`` and ``samples`` is empty in most profiles."""

    runs: Mapping[tuple[CodeLocation, CodeLocation], int] = field(default_factory=dict)
    """How often code ran in a straight line from a place up to a branch that jumped."""
    samples: Mapping[CodeLocation, float] = field(default_factory=dict)
    """How many samples hit an instruction."""
    by_instructions: bool = False
    """The samples were taken every so many instructions, not every so many cycles."""
    mapped: tuple[Mapped, ...] = ()


class ProfileError(ValueError):
    """The file is no profile that is understood, or cannot be read; the message is for the user."""
