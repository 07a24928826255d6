"""What each word of a text is: instruction, register, label ... Reads lines alone and needs no analysis.

Words are told apart by their shape and place, so that a half-typed line and a dialect that nobody else
understands have colours, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import NamedTuple

from cyclelens.analyzer.assembly.statements.registers import REGISTERS
from cyclelens.analyzer.assembly.text.scanner import MARKER_WORDS
from cyclelens.analyzer.recent import Recent


class Kind(IntEnum):
    """What a word is; the number is its place in the legend that clients are told."""

    INSTRUCTION = 0
    REGISTER = 1
    LABEL = 2
    DIRECTIVE = 3
    NUMBER = 4
    COMMENT = 5
    STRING = 6
    SIZE = 7
    SYMBOL = 8


class Token(NamedTuple):
    """A word within a line, in code points."""

    column: int
    length: int
    kind: Kind
    defined: bool = False
    """The place where a label, a symbol or a macro is defined."""
    marker: bool = False
    """A comment that marks a region."""


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
"""Directives whose words are none of the program's."""
_NASM_DEFINING = frozenset(["%define", "%macro", "%assign"])
_DATA = re.compile(
    r"(?:d[bwdqto]|res[bwdqto]|times|equ|section|segment|global|extern|bits|default|align)\b", re.I
)

_TEMPLATE = r"""
    (?P<block>/\*)
  | (?P<comment>\#.*|//.*{semicolon})
  | (?P<separator>;)
  | (?P<string>"(?:[^"\\]++|\\.)*+"?)
  | (?P<character>'(?:\\.|[^\\'])'?)
  | (?P<register>%[ ]?(?:st\(\d\)|[a-z]\w*))
  | (?P<local>\d+[bf]\b(?![\w(]))
  | (?P<number>0x[\da-f]+|0b[01]+\b|\d[\da-f]*h\b|\d+(?:\.\d+)?(?:e[-+]?\d+)?)
  | (?P<name>[a-z_.?@][\w.$?@]*)
  | (?P<other>[^\s])
"""
_FLAGS = re.VERBOSE | re.IGNORECASE
_PATTERNS = {
    False: re.compile(_TEMPLATE.format(semicolon=""), _FLAGS),
    True: re.compile(_TEMPLATE.format(semicolon="|;.*"), _FLAGS),
}
_LABEL = re.compile(r"\s*(?P<name>[A-Za-z_.$?@][\w.$?@]*|\d+)\s*:(?!:)")
_ASSIGNED = re.compile(r"\s*=")


_LINES: Recent[tuple[str, bool, bool], tuple[tuple[Token, ...], bool]] = Recent(1 << 15)
"""What a line holds, by its text and what ``line_tokens`` is told of it."""


def tokens(
    lines: Sequence[str], first: int, last: int, *, semicolon_comments: bool
) -> Iterator[tuple[int, tuple[Token, ...]]]:
    """Line number and words of the lines from ``first`` to ``last``, the latter included."""
    _LINES.next_text()
    inside = _inside_comment(lines, first)
    for number in range(first, min(last + 1, len(lines))):
        found, inside = _known(lines[number], inside, semicolon_comments)
        yield number, found


def _inside_comment(lines: Sequence[str], line: int) -> bool:
    """Whether a line begins within a block comment."""
    inside = False
    for text in lines[:line]:
        if inside or "/*" in text:
            _, inside = _known(text, inside, False)
    return inside


def _known(line: str, inside: bool, semicolon_comments: bool) -> tuple[tuple[Token, ...], bool]:
    key = (line, inside, semicolon_comments)
    known = _LINES[key]
    if known is None:
        known = _LINES[key] = line_tokens(line, inside, semicolon_comments)
    return known


def line_tokens(line: str, inside: bool, semicolon_comments: bool) -> tuple[tuple[Token, ...], bool]:
    """The words of a line, and whether a block comment goes on behind it. ``inside``: it begins in one."""
    found: list[Token] = []
    start = 0
    if inside:
        end = line.find("*/")
        start = len(line) if end < 0 else end + 2
        if start:
            found.append(_comment(line, 0, start))
        if end < 0:
            return tuple(found), True
    position, begins, defining, labels = start, True, False, True
    pattern = _PATTERNS[semicolon_comments]
    while True:
        while begins and (label := _LABEL.match(line, position)):
            found.append(Token(label.start("name"), len(label["name"]), Kind.LABEL, defined=True))
            position = label.end()
        match = pattern.search(line, position)
        if match is None:
            return tuple(found), False
        column, position = match.span()
        kind = match.lastgroup
        text = match[0]
        if kind == "block":
            end = line.find("*/", position)
            position = len(line) if end < 0 else end + 2
            found.append(_comment(line, column, position))
            if end < 0:
                return tuple(found), True
        elif kind == "comment":
            found.append(_comment(line, column, position))
        elif kind == "separator":
            begins, defining, labels = True, False, True
        elif kind == "name" and begins:
            lower = text.lower()
            if lower.startswith(".") or _DATA.match(lower):
                found.append(Token(column, len(text), Kind.DIRECTIVE))
                defining, labels = lower in _DEFINING, lower not in _WITHOUT_LABELS
            elif _ASSIGNED.match(line, position):
                found.append(Token(column, len(text), Kind.SYMBOL, defined=True))
            else:
                found.append(Token(column, len(text), Kind.INSTRUCTION))
            begins = lower in _PREFIXES
        elif kind == "register" and begins:
            # What stands first is a directive of NASM's preprocessor.
            found.append(Token(column, len(text), Kind.DIRECTIVE))
            begins, defining = False, text.lower() in _NASM_DEFINING
        else:
            begins = False
            word = _operand(text, kind, defining)
            if word is not None and (labels or word is not Kind.LABEL):
                found.append(Token(column, len(text), word, defined=defining and word is Kind.SYMBOL))
                defining = False


def _operand(text: str, kind: str | None, defining: bool) -> Kind | None:
    if kind in ("string", "character"):
        return Kind.STRING
    if kind == "number":
        return Kind.NUMBER
    if kind == "local":
        return Kind.LABEL
    if kind == "register":
        return Kind.REGISTER
    if kind != "name" or text[0] == "@" or text == ".":
        return None
    lower = text.lower()
    if defining:
        return Kind.SYMBOL
    if lower in REGISTERS:
        return Kind.REGISTER
    return Kind.SIZE if lower in _SIZES else Kind.LABEL


def _comment(line: str, start: int, end: int) -> Token:
    marker = MARKER_WORDS.search(line, start, end) is not None
    return Token(start, end - start, Kind.COMMENT, marker=marker)
