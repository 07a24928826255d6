"""The words of a line with their places. Works on lines alone, without an analysis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cyclelens.server.texts.tokens import TokenKind, line_tokens
from msgspec import Struct


class Word(Struct, frozen=True):
    """A word at a place; columns are code points."""

    line: int
    column: int
    end_column: int
    text: str


def words(lines: Sequence[str], line: int) -> Iterator[tuple[Word, TokenKind]]:
    """The words of a line with their classes, registers without their percent sign."""
    text = lines[line]
    found, _ = line_tokens(text, False, False)
    for token in found:
        end = token.column + token.length
        start = token.column + (text[token.column] == "%")
        yield Word(line, start, end, text[start:end]), token.kind


def word_at(lines: Sequence[str], line: int, column: int) -> tuple[Word, TokenKind] | None:
    """The word that a position is in, or at the end of; None in spaces, comments and strings."""
    for word, kind in words(lines, line):
        if word.column <= column <= word.end_column:
            return None if kind in (TokenKind.COMMENT, TokenKind.STRING) else (word, kind)
    return None
