"""Hints in one column: the number of spaces between the end of a line and its hint."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

WIDEST = 56
"""Lines longer than this do not move the hints of other lines."""

TAB_SIZE = 8
"""Used if the editor does not report its tab size."""


def width(text: str, tab_size: int) -> int:
    """Columns that a line takes on the screen."""
    if text.isascii() and "\t" not in text:
        return len(text)
    column = 0
    for symbol in text:
        if symbol == "\t":
            column += tab_size - column % tab_size
        elif not unicodedata.combining(symbol):
            column += 2 if unicodedata.east_asian_width(symbol) in "WF" else 1
    return column


def paddings(lines: Mapping[int, str], tab_size: int) -> dict[int, int]:
    """Line -> the spaces that pad it to the width of the widest line."""
    widths = {number: width(line, tab_size) for number, line in lines.items()}
    column = max((each for each in widths.values() if each <= WIDEST), default=0)
    return {number: max(column - each, 0) for number, each in widths.items()}
