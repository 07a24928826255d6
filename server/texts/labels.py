"""Labels and names in a text: where they are defined and used. Works on lines alone, without an analysis."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from cyclelens.analyzer.frontend.source.lexer import leading_labels, without_comments
from msgspec import Struct

_NAME = re.compile(
    r"(?<![\w.$%])(?:\$(?!L[A-Z]?\d)(?=[A-Za-z_.][\w.$]*(?![\w.$@])))?(?P<name>[A-Za-z_.$@][\w.$@]*|\d+[bf]\b)"
)
"""A name without the dollar sign of an AT&T immediate; MSVC's labels keep it (``$LN4``,
``$LL4@sum``)."""
_SET = re.compile(r"\s*\.(?:set|equ|equiv)\s+(?P<name>[A-Za-z_.$@][\w.$@]*)\s*,")
_MACRO = re.compile(r"\s*\.macro\s+(?P<name>[A-Za-z_.$@][\w.$@]*)")
_NASM = re.compile(
    r"\s*(?:%i?(?:macro|define|assign)\s+(?P<name>[\w.$@?]+)|(?P<constant>[A-Za-z_][\w.$@?]*)\s+equ\s)"
)
_MAY_DEFINE = re.compile(r"\s*(?:[\w.$@?]+\s*:|\.(?:set|equ|equiv|macro)\b|%i?[mda]|\w+\s+equ\s|/\*)")


class Name(Struct, frozen=True):
    """A name at a place; columns are code points."""

    text: str
    line: int
    column: int
    defined: bool = False
    label: bool = False

    @property
    def end_column(self) -> int:
        return self.column + len(self.text)


def definitions(lines: Sequence[str]) -> Iterator[Name]:
    """Labels (several per line, too), symbols and macros, in text order."""
    for number, line in enumerate(lines):
        if not _MAY_DEFINE.match(line):
            continue
        text = without_comments(line, strings=False)
        found, start = leading_labels(text)
        for match in found:
            yield Name(match[1], number, match.start(1), defined=True, label=True)
        for pattern in (_SET, _MACRO):
            if other := pattern.match(text, start):
                yield Name(other["name"], number, other.start("name"), defined=True)
        if other := _NASM.match(text, start):
            group = "name" if other["name"] else "constant"
            yield Name(other[group], number, other.start(group), defined=True)


def occurrences(lines: Sequence[str], text: str) -> Iterator[Name]:
    """The definitions of a name and everything that refers to one of them (``1f`` for ``1``)."""
    for number, line in enumerate(lines):
        if text in line or (text == "@@" and "@" in line):
            for name in _on_line(lines, number):
                if _plain(name) == text:
                    yield name


class Names:
    """The names of one text; the index is built once."""

    def __init__(self, lines: Sequence[str], searched: bool = True) -> None:
        """``searched``: collect the definitions, in time proportional to the length of the text."""
        self._lines = lines
        self._searched = searched

    def at(self, line: int, column: int) -> Name | None:
        """The name at a position; None if there is none."""
        for name in _on_line(self._lines, line):
            if name.column <= column <= name.end_column:
                return name
        return None

    @cached_property
    def index(self) -> Mapping[str, Sequence[Name]]:
        """Name -> its definitions in text order."""
        found: dict[str, list[Name]] = {}
        for name in definitions(self._lines) if self._searched else ():
            found.setdefault(name.text, []).append(name)
        return found

    def definition_of(self, name: Name) -> Name | None:
        """The definition of a name; ``1b`` and ``1f`` mean the nearest ``1:`` before and after."""
        return _meant(self._in_scope(self.index.get(_plain(name), ()), name.line), name)

    def definition_at(self, line: int, column: int) -> Name | None:
        """The definition of the name at a position; None if there is none."""
        name = self.at(line, column)
        return self.definition_of(name) if name else None

    def label_above(self, line: int) -> Name | None:
        """The last label in this line or above it; None if there is none."""
        place = bisect_right(self._labels, line, key=lambda name: name.line)
        return self._labels[place - 1] if place else None

    @cached_property
    def _labels(self) -> Sequence[Name]:
        """All labels in text order."""
        found = (name for names in self.index.values() for name in names if name.label)
        return sorted(found, key=lambda name: (name.line, name.column))

    def references_to(self, target: Name) -> Iterator[Name]:
        """Every reference to a definition, without the definition itself."""
        found = self.index.get(target.text, ())
        for name in occurrences(self._lines, target.text):
            if not name.defined and _meant(self._in_scope(found, name.line), name) == target:
                yield name

    @cached_property
    def _scopes(self) -> Sequence[int]:
        """The lines of the non-local labels, in ascending order."""
        return sorted(
            name.line
            for found in self.index.values()
            for name in found
            if name.label and not (name.text.startswith(".") or name.text.isdigit())
        )

    def _in_scope(self, found: Sequence[Name], line: int) -> Sequence[Name]:
        """Among equal local labels, which NASM allows, those in the same scope (behind the same non-local
        label)."""
        if len(found) < 2 or not found[0].text.startswith("."):
            return found
        here = bisect_right(self._scopes, line)
        return [name for name in found if bisect_right(self._scopes, name.line) == here] or found


def _meant(found: Sequence[Name], name: Name) -> Name | None:
    """The definition that a name refers to at its place."""
    place = bisect_left(found, (name.line, name.column), key=lambda known: (known.line, known.column))
    behind = found[place] if place < len(found) else None
    if name.defined and behind and (behind.line, behind.column) == (name.line, name.column):
        return behind
    if not _is_relative(name):
        return found[0] if found else None
    if name.text[-1] in "bB":
        return found[place - 1] if place else None
    return behind


def _on_line(lines: Sequence[str], line: int) -> Iterator[Name]:
    text = without_comments(lines[line], strings=False)
    defined = {known.column: known for known in definitions((lines[line],))}
    for known in defined.values():
        yield Name(known.text, line, known.column, defined=True, label=known.label)
    for match in _NAME.finditer(text):
        if match.start("name") not in defined:
            yield Name(match["name"], line, match.start("name"))


def _plain(name: Name) -> str:
    """The name to look up: ``1`` for ``1b``, ``@@`` for MASM's ``@B``."""
    if not _is_relative(name):
        return name.text
    return "@@" if name.text[0] == "@" else name.text[:-1]


def _is_relative(name: Name) -> bool:
    """Whether the name refers to the nearest of several labels."""
    return not name.defined and (name.text[0].isdigit() or name.text.lower() in ("@b", "@f"))


_OPENING = re.compile(r"\s*(?:\.|%i?)(macro|rept?|irpc?|if\w*)\b")
_CLOSING = re.compile(r"\s*[.%](endm|endr|endif)(?:acro|ep)?\b")
_ENDS = {"macro": "endm", "rep": "endr", "rept": "endr", "irp": "endr", "irpc": "endr"}


def blocks(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """First and last lines of macros, repetitions and conditions; unclosed ones are skipped."""
    still_open: list[tuple[str, int]] = []
    for number, line in enumerate(lines):
        if "." not in line and "%" not in line:
            continue
        if opening := _OPENING.match(line):
            still_open.append((_ENDS.get(opening[1], "endif"), number))
        elif (closing := _CLOSING.match(line)) and any(end == closing[1] for end, _ in still_open):
            while still_open:
                end, first = still_open.pop()
                if end == closing[1]:
                    yield first, number
                    break
