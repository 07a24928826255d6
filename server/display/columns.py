"""Hints in one column: the number of spaces between the end of a line and its hint."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Mapping

WIDEST = 56
"""Lines longer than this do not move the hints of other lines."""

LEAST_ROOM = 36
"""Columns for a hint behind a line that fills the window: a change of a figure by work."""

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


def room(line: str, tab_size: int, window: int | None) -> int:
    """Columns for a hint behind the line, of which the editor leaves one empty; unlimited without a width of
    the window, and a few in any case."""
    return max(window - width(line, tab_size) - 1, LEAST_ROOM) if window else sys.maxsize
