"""Text to raw statements: comments blanked out, statements split at line ends and semicolons.

Every statement keeps the offset where it stands, and blanks keep its length, so that columns stay true.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

MARKER_WORDS = re.compile(r"(?:cyclelens|osaca|llvm-mca)-\w", re.IGNORECASE)
"""What every region marker begins with."""

_LINE_END = re.compile(r"\r\n|\n|\r")
_TOKEN_PATTERN = r"""
    (?P<newline>\r\n|\n|\r)
  | (?P<comment>\#[^\r\n]*|//[^\r\n]*|;[ \t;]{{0,8}}(?=cyclelens-|osaca-|llvm-mca-)[^\r\n]*{semicolon})
  | (?P<block>/\*)
  | (?P<separator>;)
  | (?P<string>"(?:[^"\\\r\n]|\\[^\r\n])*"?)
  | (?P<character>'(?:\\[^\r\n]|[^\\\r\n])'?)
"""
_FLAGS = re.VERBOSE | re.IGNORECASE
_TOKENS = {
    False: re.compile(_TOKEN_PATTERN.format(semicolon=""), _FLAGS),
    True: re.compile(_TOKEN_PATTERN.format(semicolon=r"|;[^\r\n]*"), _FLAGS),
}
_PREPROCESSOR = re.compile(r"#(?:if|ifdef|ifndef|elif|else|endif|define|undef|include)\b")
_POLL_EVERY = 4096


class Lines:
    """Offsets to zero-based lines and columns. Lines end as editors see it: LF, CR LF or CR."""

    def __init__(self, text: str) -> None:
        if "\r" in text:
            self.starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
        else:
            self.starts = list(accumulate((len(line) + 1 for line in text.split("\n")[:-1]), initial=0))

    def locate(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset."""
        line = bisect_right(self.starts, offset) - 1
        return line, offset - self.starts[line]

    def span(self, start: int, end: int) -> tuple[int, int, int]:
        """Line, column and end column of a stretch of text; the end is cut at the first line's end."""
        line, column = self.locate(start)
        if line + 1 < len(self.starts):
            end = min(end, self.starts[line + 1] - 1)
        return line, column, max(end - self.starts[line], column)

    def content(self, line: int, text: str) -> tuple[int, int]:
        """Offsets of what stands on a line of the text, without the blanks around it."""
        if line >= len(self.starts):
            return len(text), len(text)
        start = self.starts[line]
        content = text[start : self.starts[line + 1] if line + 1 < len(self.starts) else len(text)]
        first = start + len(content) - len(content.lstrip())
        return first, max(start + len(content.rstrip()), first)


class RawStatement(NamedTuple):
    """A statement with its labels, comments blanked out, not stripped."""

    start: int
    """Offset of the first character of ``text``."""
    text: str
    place: tuple[int, int] | None = None
    """Made by a macro or with names replaced: where in the file it stands, without outer blanks."""


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment that holds a region marker, one line of it."""

    start: int
    end: int
    text: str


@dataclass(slots=True)
class Scan:
    """Everything found, in the order of the text."""

    statements: list[RawStatement]
    markers: list[Comment]
    preprocessor: list[tuple[int, int]]
    """Spans of lines that look like the C preprocessor's."""
    open_comment: int | None = None
    """Offset of a block comment that is never closed."""


def scan(text: str, semicolon_comments: bool, cancel: Callable[[], bool]) -> Scan:
    """One pass over the text; stops early when ``cancel()`` turns true."""
    found = Scan([], [], [])
    statements = found.statements
    position = scanned = 0
    for number, line in enumerate(text.split("\n")):
        if number % _POLL_EVERY == 0 and cancel():
            return found
        start, position = position, position + len(line) + 1
        if start < scanned:
            continue  # within a block comment, or behind one
        known = _scan_line(line, semicolon_comments)
        if known is None:
            scanned = start
            while scanned < min(position, len(text)):
                scanned = _scan_lines(found, text, scanned, semicolon_comments)
            continue
        for offset, statement, _ in known.statements:
            statements.append(RawStatement(start + offset, statement))
        if known.markers or known.preprocessor:
            found.markers += [Comment(start + one.start, start + one.end, one.text) for one in known.markers]
            found.preprocessor += [(start + begin, start + end) for begin, end in known.preprocessor]
    return found


@lru_cache(maxsize=1 << 16)
def _scan_line(line: str, semicolon_comments: bool) -> Scan | None:
    """What stands on a line, None if that cannot be told of the line alone. Remembered: when a text is read
    again, most of its lines are the same."""
    if "/*" in line or "\r" in line:
        return None
    found = Scan([], [], [])
    _scan_lines(found, line, 0, semicolon_comments)
    return found


def _scan_lines(found: Scan, text: str, start: int, semicolon_comments: bool) -> int:
    """Scan up to the first line end outside of a block comment; returns where the next line begins."""
    pieces: list[str] = []
    position = start
    pattern = _TOKENS[semicolon_comments]

    def flush(end: int) -> None:
        pieces.append(text[position:end])
        statement = "".join(pieces)
        if statement and not statement.isspace():
            found.statements.append(RawStatement(start, statement))
        pieces.clear()

    match = pattern.search(text, start)
    while match is not None:
        kind = match.lastgroup
        begin, end = match.span()
        if kind in ("newline", "separator"):
            flush(begin)
            start = position = end
            if kind == "newline":
                return end
        elif kind in ("comment", "block"):
            if kind == "block":
                close = text.find("*/", end)
                if close < 0:
                    found.open_comment = begin
                    close = len(text)
                end = min(close + 2, len(text))
            comment = text[begin:end]
            if MARKER_WORDS.search(comment):
                _note_markers(found, begin, comment)
            if comment[0] == "#" and _PREPROCESSOR.match(comment) and begin == start and not pieces:
                found.preprocessor.append((begin, end))
            pieces.append(text[position:begin])
            pieces.append(" " * (end - begin))
            position = end
        match = pattern.search(text, end)
    flush(len(text))
    return len(text)


def _note_markers(found: Scan, begin: int, comment: str) -> None:
    """Keep the lines of a comment that hold a marker."""
    offset = 0
    for line in _LINE_END.split(comment):
        if MARKER_WORDS.search(line):
            found.markers.append(Comment(begin + offset, begin + offset + len(line), line))
        offset += len(line)
        offset += 2 if comment[offset : offset + 2] == "\r\n" else 1
