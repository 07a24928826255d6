"""Labels and names in a text: where they are defined and used. Reads lines alone and needs no analysis."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_NAME = re.compile(r"(?<![\w.$%])(?:[A-Za-z_.$@][\w.$@]*|\d+[bf]\b)")
_LABEL = re.compile(r"\s*(?P<name>[A-Za-z_.$@][\w.$@]*|\d+)\s*:")
_SET = re.compile(r"\s*\.(?:set|equ|equiv)\s+(?P<name>[A-Za-z_.$@][\w.$@]*)\s*,")
_MACRO = re.compile(r"\s*\.macro\s+(?P<name>[A-Za-z_.$@][\w.$@]*)")
_COMMENT = re.compile(r"/\*.*?(?:\*/|$)|//.*|#.*|\"(?:[^\"\\]|\\.)*\"")


@dataclass(frozen=True, slots=True)
class Name:
    """A name at a place, in code points."""

    text: str
    line: int
    column: int
    defined: bool = False
    label: bool = False

    @property
    def end_column(self) -> int:
        return self.column + len(self.text)


def code(line: str) -> str:
    """The line with comments and texts blanked out; columns stay where they are."""
    return _COMMENT.sub(lambda match: " " * len(match[0]), line)


def definitions(lines: Sequence[str]) -> Iterator[Name]:
    """Labels (several on a line, too), symbols and macros, in the order of the text."""
    for number, line in enumerate(lines):
        text = code(line)
        start = 0
        while match := _LABEL.match(text, start):
            yield Name(match["name"], number, match.start("name"), defined=True, label=True)
            start = match.end()
        for pattern in (_SET, _MACRO):
            if other := pattern.match(text, start):
                yield Name(other["name"], number, other.start("name"), defined=True)


def name_at(lines: Sequence[str], line: int, column: int) -> Name | None:
    """The name that a position touches."""
    for name in _on_line(lines, line):
        if name.column <= column <= name.end_column:
            return name
    return None


def definition_of(lines: Sequence[str], name: Name) -> Name | None:
    """Where a name is defined; ``1b`` and ``1f`` mean the nearest ``1:`` before and after."""
    found = [known for known in definitions(lines) if known.text == _plain(name)]
    if not name.text[0].isdigit() or name.defined:
        same = [known for known in found if (known.line, known.column) == (name.line, name.column)]
        return next(iter(same or found), None)
    here = (name.line, name.column)
    before = [known for known in found if (known.line, known.column) < here]
    after = [known for known in found if (known.line, known.column) > here]
    if name.text.endswith("b"):
        return before[-1] if before else None
    return after[0] if after else None


def references_to(lines: Sequence[str], target: Name) -> Iterator[Name]:
    """Every place that means a definition, the definition itself not among them."""
    for number in range(len(lines)):
        for name in _on_line(lines, number):
            if not name.defined and _plain(name) == target.text and definition_of(lines, name) == target:
                yield name


def _on_line(lines: Sequence[str], line: int) -> Iterator[Name]:
    text = code(lines[line])
    defined = {known.column: known for known in definitions((lines[line],))}
    for known in defined.values():
        yield Name(known.text, line, known.column, defined=True, label=known.label)
    for match in _NAME.finditer(text):
        if match.start() not in defined:
            yield Name(match[0], line, match.start())


def _plain(name: Name) -> str:
    """What is to be looked for: ``1`` for ``1b``."""
    return name.text[:-1] if name.text[0].isdigit() and not name.defined else name.text
