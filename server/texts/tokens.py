"""Classifies each word of a text: instruction, register, label and so on. Works on lines alone, without an
analysis.

Words are classified by shape and place, so that half-typed lines and unknown dialects are coloured, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import IntEnum

from cyclelens.analyzer.common.recent import Recent
from cyclelens.analyzer.frontend.source.lexer import MARKER_WORDS, TokenShape, lexemes
from cyclelens.analyzer.frontend.statements.registers import REGISTERS
from msgspec import Struct


class TokenKind(IntEnum):
    """Class of a word; the number is its index in the legend sent to clients."""

    INSTRUCTION = 0
    REGISTER = 1
    LABEL = 2
    DIRECTIVE = 3
    NUMBER = 4
    COMMENT = 5
    STRING = 6
    SIZE = 7
    SYMBOL = 8


class Token(Struct, frozen=True):
    """A word within a line; columns are code points."""

    column: int
    length: int
    kind: TokenKind
    defined: bool = False
    """Whether a label, a symbol or a macro is defined here."""
    marker: bool = False
    """Whether the comment marks a region."""


_PREFIXES = frozenset(
    ["lock", "rep", "repe", "repz", "repne", "repnz", "notrack", "bnd", "xacquire", "xrelease"]
)
_SIZES = frozenset(
    [
        *("byte", "word", "dword", "qword", "tword", "oword", "xmmword", "ymmword", "zmmword", "fword"),
        *("ptr", "offset", "short", "near", "far"),
    ]
)
_DEFINING = frozenset([".set", ".equ", ".equiv", ".eqv", ".macro"])
_WITHOUT_LABELS = frozenset(
    [".section", ".intel_syntax", ".att_syntax", ".arch", ".file", ".ident", ".altmacro"]
)
"""Directives whose operands are not names of the program."""
_NASM_DEFINING = frozenset(["%define", "%macro", "%assign"])
_DATA = re.compile(
    r"(?:d[bwdqto]|res[bwdqto]|times|equ|section|segment|global|extern|bits|default|align)\b", re.I
)

_SHAPES = {
    TokenShape.STRING: TokenKind.STRING,
    TokenShape.CHARACTER: TokenKind.STRING,
    TokenShape.NUMBER: TokenKind.NUMBER,
    TokenShape.LOCAL: TokenKind.LABEL,
    TokenShape.REGISTER: TokenKind.REGISTER,
}
"""Class of an operand that follows from its shape alone."""
_ASSIGNED = re.compile(r"\s*=")


FURTHEST = 20_000
"""Number of earlier lines that are searched for the beginning of a block comment."""


class WordCache:
    """The words of lines, cached by text: an edit changes one line, and clients request all of them."""

    def __init__(self) -> None:
        self._lines: Recent[tuple[str, bool, bool], tuple[tuple[Token, ...], bool]] = Recent(1 << 15)
        """Arguments of ``line_tokens`` -> its result."""

    def tokens(
        self, lines: Sequence[str], first: int, last: int, *, semicolon_comments: bool
    ) -> Iterator[tuple[int, tuple[Token, ...]]]:
        """Line number and words of each line from ``first`` to ``last``, inclusive."""
        self._lines.next_text()
        inside = self._inside_comment(lines, first)
        for number in range(first, min(last + 1, len(lines))):
            found, inside = self._known(lines[number], inside, semicolon_comments)
            yield number, found

    def _inside_comment(self, lines: Sequence[str], line: int) -> bool:
        """Whether a line is inside a block comment that begins at most ``FURTHEST`` lines before it."""
        inside = False
        for text in lines[max(line - FURTHEST, 0) : line]:
            if inside or "/*" in text:
                _, inside = self._known(text, inside, False)
        return inside

    def _known(self, line: str, inside: bool, semicolon_comments: bool) -> tuple[tuple[Token, ...], bool]:
        key = (line, inside, semicolon_comments)
        known = self._lines.get(key)
        if known is None:
            known = self._lines[key] = line_tokens(line, inside, semicolon_comments)
        return known


def line_tokens(line: str, inside: bool, semicolon_comments: bool) -> tuple[tuple[Token, ...], bool]:
    """The words of a line, and whether a block comment continues after it. ``inside``: it begins in one."""
    pieces, goes_on = lexemes(line, semicolon_comments=semicolon_comments, inside=inside)
    found: list[Token] = []
    begins, defining, labels = True, False, True
    for shape, column, end in pieces:
        text = line[column:end]
        length = end - column
        if shape is TokenShape.COMMENT:
            marker = MARKER_WORDS.search(text) is not None
            found.append(Token(column, length, TokenKind.COMMENT, marker=marker))
        elif shape is TokenShape.LABEL:
            found.append(Token(column, length, TokenKind.LABEL, defined=True))
        elif shape is TokenShape.SEPARATOR:
            begins, defining, labels = True, False, True
        elif shape is TokenShape.NAME and begins:
            lower = text.lower()
            if lower.startswith(".") or _DATA.match(lower):
                found.append(Token(column, length, TokenKind.DIRECTIVE))
                defining, labels = lower in _DEFINING, lower not in _WITHOUT_LABELS
            elif _ASSIGNED.match(line, end):
                found.append(Token(column, length, TokenKind.SYMBOL, defined=True))
            else:
                found.append(Token(column, length, TokenKind.INSTRUCTION))
            begins = lower in _PREFIXES
        elif shape is TokenShape.REGISTER and begins:
            # A word with a percent sign in first place is a directive of NASM's preprocessor.
            found.append(Token(column, length, TokenKind.DIRECTIVE))
            begins, defining = False, text.lower() in _NASM_DEFINING
        else:
            begins = False
            word = _operand(text, shape, defining)
            if word is not None and (labels or word is not TokenKind.LABEL):
                found.append(Token(column, length, word, defined=defining and word is TokenKind.SYMBOL))
                defining = False
    return tuple(found), goes_on


def _operand(text: str, shape: TokenShape, defining: bool) -> TokenKind | None:
    known = _SHAPES.get(shape)
    if known is not None or shape is not TokenShape.NAME or text[0] == "@" or text == ".":
        return known
    lower = text.lower()
    if defining:
        return TokenKind.SYMBOL
    if lower in REGISTERS:
        return TokenKind.REGISTER
    return TokenKind.SIZE if lower in _SIZES else TokenKind.LABEL
