"""Lines of a terminal report: their width and their colours."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from enum import StrEnum

from msgspec import Struct

PARAGRAPH = 110
"""Width of a line of prose, in characters, if the terminal's width is unknown."""
_NARROWEST = 40
"""Narrower terminals wrap lines themselves."""


class LineStyle(StrEnum):
    """What a line is, for its colour."""

    PLAIN = ""
    HEADING = "heading"
    FIGURE = "figure"
    CHAIN = "chain"
    """Part of the critical chain."""
    WARNING = "warning"
    ERROR = "error"
    ASIDE = "aside"
    """Useful, but not the first thing to read."""


COLOURS = {
    LineStyle.PLAIN: "",
    LineStyle.HEADING: "1",
    LineStyle.FIGURE: "1;36",
    LineStyle.CHAIN: "31",
    LineStyle.WARNING: "33",
    LineStyle.ERROR: "1;31",
    LineStyle.ASIDE: "2",
}
"""ANSI codes of each style."""


class Line(Struct, frozen=True):
    """One line without its newline."""

    text: str
    style: LineStyle = LineStyle.PLAIN


EMPTY = Line("")


def paragraph(
    label: str, text: str, width: int | None, style: LineStyle = LineStyle.PLAIN, *, indent: int | None = None
) -> Iterator[Line]:
    """A label and a text, wrapped.

    ``indent``: of the lines after the first, in characters; by default that of the text after the label.
    """
    room = max(width or PARAGRAPH, _NARROWEST)
    wrapped = textwrap.wrap(
        text,
        room,
        initial_indent=label,
        subsequent_indent=" " * (len(label) if indent is None else indent),
        break_on_hyphens=False,
        break_long_words=False,
    )
    yield from (Line(line, style) for line in wrapped)
