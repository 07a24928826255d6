"""A command that makes an object file."""

from __future__ import annotations

from msgspec import Struct


class CommandError(ValueError):
    """The command cannot be used; the message is for the user."""


class CompileStep(Struct, frozen=True):
    """A command to run and the object file that it makes."""

    words: tuple[str, ...]
    target: str
    source: str
    """Source file that is compiled; empty if the command does not name it."""
