"""Columns in code points (ours) <-> characters in the client's position encoding."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types
from msgspec import Struct


def _size(text: str, encoding: str) -> int:
    """Length in units of the encoding."""
    if encoding == "utf-32" or text.isascii():
        return len(text)
    if encoding == "utf-8":
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def to_client(line: str, column: int, encoding: str) -> int:
    """Units of ``encoding`` in front of a code point column; columns behind the end mean the end."""
    return _size(line[: max(column, 0)], encoding)


def from_client(line: str, character: int, encoding: str) -> int:
    """Code point column of a client's character. Clamped; inside a character means its start."""
    if encoding == "utf-32" or line.isascii():
        return min(max(character, 0), len(line))
    units = 0
    for column, symbol in enumerate(line):
        units += _size(symbol, encoding)
        if units > character:
            return column
    return len(line)


class Converter(Struct, frozen=True):
    """Conversions for one client."""

    encoding: str = "utf-16"

    def position(self, lines: Sequence[str], line: int, column: int) -> types.Position:
        """LSP position of a line and code point column; lines behind the end mean the end of the text."""
        if line >= len(lines):
            line, column = len(lines) - 1, len(lines[-1])
        return types.Position(line, to_client(lines[line], column, self.encoding))

    def range(self, lines: Sequence[str], line: int, column: int, end_column: int) -> types.Range:
        """LSP range within one line, in code point columns."""
        return types.Range(self.position(lines, line, column), self.position(lines, line, end_column))

    def offset(self, lines: Sequence[str], position: types.Position) -> tuple[int, int]:
        """Line and code point column of an LSP position; clamped to the text."""
        if position.line >= len(lines):
            return len(lines) - 1, len(lines[-1])
        return position.line, from_client(lines[position.line], position.character, self.encoding)
