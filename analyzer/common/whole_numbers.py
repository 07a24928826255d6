"""Reads whole numbers of texts that are not trusted."""

from __future__ import annotations

_MOST_DIGITS = 18
"""More than any number here has; Python refuses some thousands."""


def whole_number(text: str) -> int | None:
    """The number, if the text has only ASCII digits, and not too many of them."""
    return int(text) if len(text) <= _MOST_DIGITS and text.isascii() and text.isdecimal() else None
