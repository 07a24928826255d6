"""Splits text into raw statements at line ends and semicolons, with comments blanked out.

Every statement keeps its offset, and blanks keep its length, so that columns stay correct.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import accumulate
from typing import Any

from cyclelens.analyzer.frontend.source.chunks import LINE_END, Chunk, SourceText
from cyclelens.analyzer.frontend.source.lexer import MARKER_WORDS, PUNCTUATION, leading_labels
from msgspec import Struct, field

_NOTHING_BUT_LABELS = r"(?s)(?:.*:)?\s*"
"""Text after which GNU as treats a single slash as the beginning of a comment."""
_PREPROCESSOR = re.compile(r"#(?:if|ifdef|ifndef|elif|else|endif|define|undef|include)\b")
_BLOCK_EDGE = re.compile(r"\s*\.(rept|rep|irp|irpc|endr|macro|endm)\b", re.IGNORECASE)


def block_edge(text: str, *, inside: bool) -> tuple[str, int]:
    """The directive (lower case) that begins or ends a macro or a repetition, and its offset; empty for any
    other statement. ``inside`` such a block, GNU as skips named labels before the directive, but not numeric
    ones."""
    labels, behind = leading_labels(text)
    match = _BLOCK_EDGE.match(text, behind)
    if match is None or (inside and any(label[1].isdigit() for label in labels)):
        return "", 0
    return match[1].lower(), behind


class LineIndex:
    """Converts offsets to zero-based lines and columns. Lines end as in editors: LF, CR LF or CR."""

    def __init__(self, source: SourceText) -> None:
        self._chunks = source.chunks
        self._offsets = list(accumulate((len(each.text) for each in source.chunks), initial=0))
        self._firsts = list(accumulate((len(each.starts) for each in source.chunks), initial=0))
        """Number of each chunk's first line, and at the end the number after the last complete line."""
        is_open = source.text[-1:] not in ("", "\r", "\n")
        self.count = self._firsts[-1] + (not is_open)
        """Number of lines; a line end is followed by another line, perhaps an empty one."""

    def start(self, line: int) -> int:
        """Offset of a line."""
        at = bisect_right(self._firsts, line) - 1
        within = line - self._firsts[at]
        return self._offsets[at] + (self._chunks[at].starts[within] if at < len(self._chunks) else 0)

    def locate(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset."""
        at = bisect_right(self._offsets, offset) - 1
        if at == len(self._chunks):
            last = self.count - 1
            return last, offset - self.start(last)
        starts = self._chunks[at].starts
        within = bisect_right(starts, offset - self._offsets[at]) - 1
        return self._firsts[at] + within, offset - self._offsets[at] - starts[within]

    def span(self, start: int, end: int) -> tuple[int, int, int]:
        """Line, column and end column of a range; the end is limited to the first line."""
        line, column = self.locate(start)
        if line + 1 < self.count:
            end = min(end, self.start(line + 1) - self._width_of_end(line))
        return line, column, max(end - start + column, column)

    def _width_of_end(self, line: int) -> int:
        """Characters in the line end of a line that is not the last."""
        at = bisect_right(self._firsts, line) - 1
        chunk, behind = self._chunks[at], line - self._firsts[at] + 1
        stop = chunk.starts[behind] if behind < len(chunk.starts) else len(chunk.text)
        return 2 if chunk.text.endswith("\r\n", 0, stop) else 1

    def content(self, line: int, text: str) -> tuple[int, int]:
        """Offsets of a line's content, without surrounding blanks."""
        if line >= self.count:
            return len(text), len(text)
        start = self.start(line)
        content = text[start : self.start(line + 1) if line + 1 < self.count else len(text)]
        first = start + len(content) - len(content.lstrip())
        return first, max(start + len(content.rstrip()), first)


class RawStatement(Struct, frozen=True):
    """A statement with its labels, comments blanked out, not stripped."""

    start: int
    """Offset of the first character of ``text``."""
    text: str
    place: tuple[int, int] | None = None
    """For statements that a macro or replacement produced: their range in the file, without outer blanks."""
    refusal: str = ""
    """Why nothing is known of what this makes; empty for other statements."""


class Comment(Struct, frozen=True):
    """One line of a comment that contains a region marker."""

    start: int
    end: int
    text: str


class ScannedPart(Struct, eq=False):
    """One chunk of a text, or several if a comment, a macro or a repetition crosses their border. Offsets are
    relative to its beginning."""

    statements: list[RawStatement] = field(default_factory=list)
    markers: list[Comment] = field(default_factory=list)
    preprocessor: list[tuple[int, int]] = field(default_factory=list)
    """Ranges of lines that look like the C preprocessor's."""
    open_comment: int | None = None
    """Offset of a block comment that is never closed."""
    length: int = 0
    """Length in characters."""
    is_closed: bool = True
    """No block is open at its end."""
    following: Sequence[Chunk] = ()
    """Chunks after the first."""
    parsed: Any = None
    """Latest parse result (program.py)."""


class Scan(Struct):
    """Result of scanning a text, in text order."""

    parts: list[tuple[int, ScannedPart]] = field(default_factory=list)
    """Parts with their offsets."""
    markers: list[Comment] = field(default_factory=list)
    preprocessor: list[tuple[int, int]] = field(default_factory=list)
    """Ranges of lines that look like the C preprocessor's."""
    open_comment: int | None = None
    """Offset of a block comment that is never closed."""

    def statements(self) -> Iterator[RawStatement]:
        """Statements of all parts, with offsets in the text."""
        for offset, part in self.parts:
            for statement in part.statements:
                yield RawStatement(offset + statement.start, statement.text)


def scan(source: SourceText, semicolon_comments: bool, cancel: Callable[[], bool]) -> Scan:
    """Scan a text, reusing the results of chunks that were scanned before. Stops early if ``cancel()``
    becomes true."""
    found = Scan()
    chunks = source.chunks
    offset = at = 0
    while at < len(chunks):
        first = chunks[at]
        part: ScannedPart | None = first.scanned.get(semicolon_comments)
        if part is None or not _is_followed(part, chunks, at):
            if cancel():
                return found
            part = first.scanned[semicolon_comments] = _scan_part(chunks, at, semicolon_comments)
        found.parts.append((offset, part))
        if part.markers or part.preprocessor:
            found.markers += [Comment(offset + one.start, offset + one.end, one.text) for one in part.markers]
            found.preprocessor += [(offset + begin, offset + end) for begin, end in part.preprocessor]
        if part.open_comment is not None:
            found.open_comment = offset + part.open_comment
        offset += part.length
        at += 1 + len(part.following)
    return found


def _is_followed(part: ScannedPart, chunks: Sequence[Chunk], at: int) -> bool:
    """Whether the same chunks follow as when the part was scanned."""
    behind = chunks[at + 1 : at + 1 + len(part.following)]
    return (
        len(behind) == len(part.following)
        and all(one is other for one, other in zip(behind, part.following, strict=True))
        and (part.is_closed or at + 1 + len(behind) == len(chunks))
    )


def _scan_part(chunks: Sequence[Chunk], at: int, semicolon_comments: bool) -> ScannedPart:
    """Scan chunks up to the first border that no comment or block crosses."""
    count = 1
    while True:
        joined = chunks[at : at + count]
        borders = list(accumulate(len(chunk.text) for chunk in joined))
        text = "".join(chunk.text for chunk in joined)
        part = _scan_text(text, frozenset(borders), semicolon_comments)
        if part.is_closed or at + count >= len(chunks):
            part.following = joined[1 : borders.index(part.length) + 1]
            return part
        count *= 2


def _scan_text(text: str, borders: Collection[int], semicolon_comments: bool) -> ScannedPart:
    found = ScannedPart()
    still_open = {"endm": 0, "endr": 0}
    pattern = re.compile(PUNCTUATION[semicolon_comments])
    position = checked = 0
    while position < len(text):
        position = _scan_lines(found, text, position, pattern)
        for raw in found.statements[checked:]:
            if "." not in raw.text:
                continue  # a shortcut for nearly all statements
            word, _ = block_edge(raw.text, inside=any(still_open.values()))
            if word in still_open:
                still_open[word] = max(still_open[word] - 1, 0)
            elif word:
                still_open["endm" if word == "macro" else "endr"] += 1
        checked = len(found.statements)
        found.is_closed = found.open_comment is None and not any(still_open.values())
        if found.is_closed and position in borders:
            break
    found.length = position
    return found


def _scan_lines(found: ScannedPart, text: str, start: int, pattern: re.Pattern[str]) -> int:
    """Scan up to the first line end outside of a block comment; returns the offset of the next line."""
    pieces: list[str] = []
    position = start

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
        elif kind in ("comment", "block") or (
            kind == "slash" and re.fullmatch(_NOTHING_BUT_LABELS, "".join([*pieces, text[position:begin]]))
        ):
            if kind == "slash":
                newline = LINE_END.search(text, end)
                end = len(text) if newline is None else newline.start()
            elif kind == "block":
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


def _note_markers(found: ScannedPart, begin: int, comment: str) -> None:
    """Keep the lines of a comment that contain a marker."""
    offset = 0
    for line in LINE_END.split(comment):
        if MARKER_WORDS.search(line):
            found.markers.append(Comment(begin + offset, begin + offset + len(line), line))
        offset += len(line)
        offset += 2 if comment[offset : offset + 2] == "\r\n" else 1
