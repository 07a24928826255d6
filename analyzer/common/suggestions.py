"""Suggests known names for one that does not exist."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches

_ALIKE = 0.6
"""Smallest similarity of a suggestion (``difflib``)."""
_MOST_SHOWN = 20
_MOST_NAMES = 10_000
"""Longer lists get no suggestion: comparing takes time."""
_MOST_ALIKE = 8
"""Most names among which letters decide."""


def nearest(name: str, known: Iterable[str]) -> str:
    """The most similar known name, ignoring case; empty if none is similar. Of equally similar ones the one
    with the fewest other letters: ``add`` for ``ad``, not ``and``."""
    spelled: dict[str, str] = {}
    for each in known:
        spelled.setdefault(each.lower(), each)
    if len(spelled) > _MOST_NAMES:
        return ""
    written = name.lower()

    def order(other: str) -> tuple[float, int]:
        return -SequenceMatcher(None, other, written).ratio(), len(set(other) - set(written))

    found = get_close_matches(written, spelled, _MOST_ALIKE, _ALIKE)
    return spelled[min(found, key=order)] if found else ""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``; did you mean 'dot'?``, for the end of a message without a full stop; empty without a suggestion."""
    found = nearest(name, known)
    return f"; did you mean '{found}'?" if found else ""


def among(name: str, known: Iterable[str]) -> str:
    """The suggestion and all known names: ``; did you mean 'dot'? Known are dot, sum``."""
    names = list(known)
    hint = did_you_mean(name, names)
    if hint and len(names) == 1:
        return hint
    shown = ", ".join(names[:_MOST_SHOWN])
    if len(names) > _MOST_SHOWN:
        shown += f" and {len(names) - _MOST_SHOWN} more"
    return f"{hint} Known are {shown}" if hint else f"; known are {shown}"
