"""Value classes for recorded profiles, independent of the tool that wrote them."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field


class CodeLocation(Struct, frozen=True):
    """An instruction's location: symbol and offset, address, or both."""

    symbol: str
    """Empty if the location has none."""
    offset: int
    address: int | None
    file: str = ""
    """Path of the program or library that it lies in, or a name such as ``[kernel.kallsyms]``; empty if not
    known."""


class FileMapping(Struct, frozen=True):
    """A file's memory mapping while the profile was recorded; sizes in bytes."""

    start: int
    size: int
    offset: int
    """File offset of the mapping's first byte."""
    path: str


class Profile(Struct, frozen=True):
    """Counts per code location; a profile has ``runs``, ``samples`` or both."""

    runs: Mapping[tuple[CodeLocation, CodeLocation], int] = field(default_factory=dict)
    """How often code ran in a straight line from a location to a taken branch."""
    samples: Mapping[CodeLocation, float] = field(default_factory=dict)
    """Samples per instruction. Beside ``runs`` they say nothing about executions."""
    event: str = ""
    """The sampled event; empty if not known."""
    by_instructions: bool = False
    """The sampled event counts instructions, not cycles."""
    outcomes: Mapping[CodeLocation, tuple[int, int]] = field(default_factory=dict)
    """How often a taken branch was mispredicted, and how often it was predicted; empty if not recorded."""
    mapped: tuple[FileMapping, ...] = ()


class ProfileError(ValueError):
    """The file cannot be read or has no known profile format; the message is for the user."""
