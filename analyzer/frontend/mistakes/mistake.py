"""What a check for mistakes reports."""

from __future__ import annotations

from msgspec import Struct


class Mistake(Struct, frozen=True):
    """A likely mistake at a statement."""

    code: str
    message: str
    """``{0}`` stands for the line of the first of ``others``, ``{1}`` for that of the second."""
    index: int
    """Its statement."""
    others: tuple[int, ...] = ()
    """Statements that the message names."""
    replacement: str = ""
    """The statement that was certainly meant, in the place of this one; empty if that is open."""
