"""Lines of a report for a terminal: how wide they may be, and what deserves a colour."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from enum import StrEnum

from cyclelens.analyzer.common.named_tuple import NamedTuple

PARAGRAPH = 110
"""Characters of a line of prose where nobody says how wide the terminal is."""
_NARROWEST = 40
"""A narrower terminal has to wrap by itself."""


class Style(StrEnum):
    """What a line is, for whoever colours it."""

    PLAIN = ""
    HEADING = "heading"
    FIGURE = "figure"
    CHAIN = "chain"
    """Of the critical chain."""
    WARNING = "warning"
    ERROR = "error"
    ASIDE = "aside"
    """Of use, but not the first thing to read."""


COLOURS = {
    Style.PLAIN: "",
    Style.HEADING: "1",
    Style.FIGURE: "1;36",
    Style.CHAIN: "31",
    Style.WARNING: "33",
    Style.ERROR: "1;31",
    Style.ASIDE: "2",
}
"""As terminals number them."""


class Line(NamedTuple):
    """One line without its end."""

    text: str
    style: Style = Style.PLAIN


EMPTY = Line("")


def paragraph(
    label: str, text: str, width: int | None, style: Style = Style.PLAIN, *, indent: int | None = None
) -> Iterator[Line]:
    """A label and a text behind it, wrapped below itself. ``indent``: of the lines after the first; by
    default below the text's beginning."""
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
