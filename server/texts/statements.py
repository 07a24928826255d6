"""Statements and the lines of a label, by their shape. Works on lines alone, without an analysis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cyclelens.analyzer.frontend.source.lexer import without_comments
from cyclelens.server.texts.labels import definitions
from cyclelens.server.texts.tokens import TokenKind, line_tokens

FURTHEST = 2_000
"""Number of lines before and behind a line in which its label and the next one are searched."""
_OPENING, _CLOSING = "([{", ")]}"


def around(line: str, column: int) -> Iterator[tuple[int, int]]:
    """Start and end of the operand, the operands and the statement around a column, as far as it is in one,
    without blanks at their ends."""
    words, _ = line_tokens(line, False, False)
    code = without_comments(line)
    comment = min((token.column for token in words if token.kind is TokenKind.COMMENT), default=len(line))
    start = max(
        (token.column for token in words if _begins(token.kind) and token.column <= column), default=-1
    )
    if start < 0 or column > comment:
        return
    behind = [token.column for token in words if _begins(token.kind) and token.column > start]
    end = min([comment, *behind])
    if behind and (semicolon := code.rfind(";", start, end)) >= 0:
        end = semicolon
    mnemonic_end = next(token.column + token.length for token in words if token.column == start)
    depth, first = 0, mnemonic_end
    for place in range(mnemonic_end, end + 1):
        letter = code[place] if place < end else ","
        depth += (letter in _OPENING) - (letter in _CLOSING)
        if (letter == "," and depth <= 0) or place == end:
            if first <= column <= place:
                yield _stripped(line, first, place)
            first = place + 1
    if column >= mnemonic_end:
        yield _stripped(line, mnemonic_end, end)
    yield _stripped(line, start, end)


def _begins(kind: TokenKind) -> bool:
    """Whether a word of this class begins a statement."""
    return kind in (TokenKind.INSTRUCTION, TokenKind.DIRECTIVE)


def _stripped(line: str, start: int, end: int) -> tuple[int, int]:
    part = line[start:end]
    start += len(part) - len(part.lstrip())
    return start, max(start, end - (len(part) - len(part.rstrip())))


def label_block(lines: Sequence[str], line: int) -> tuple[int, int]:
    """First and last line of the label around a line: up to the line in front of the next label."""
    first = next(
        (n for n in range(line, max(line - FURTHEST, 0), -1) if _defines(lines[n])), max(line - FURTHEST, 0)
    )
    behind = min(line + FURTHEST, len(lines))
    last = next((n for n in range(line + 1, behind) if _defines(lines[n])), behind) - 1
    return first, last


def _defines(line: str) -> bool:
    return any(name.label for name in definitions((line,)))
