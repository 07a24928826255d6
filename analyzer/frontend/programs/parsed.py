"""Parses single statements: labels, directives, assignments, instructions."""

from __future__ import annotations

import re

from cyclelens.analyzer.frontend.programs.program import StatementKind
from cyclelens.analyzer.frontend.source.lexer import LABEL, QUOTED_NAME, SYMBOL, has_odd_blank
from cyclelens.analyzer.frontend.statements.names import symbol_of
from msgspec import Struct

_ASSIGNMENT = re.compile(rf"\s*({SYMBOL}|{QUOTED_NAME})\s*==?(?!=)\s*(.*)", re.DOTALL)
_EQU = re.compile(rf"\s*({SYMBOL})\s+equ\s+(.*)", re.DOTALL | re.IGNORECASE)
_DIRECTIVE = re.compile(r"\.([A-Za-z_][\w.]*|\d+byte)\s*(.*)", re.DOTALL)
_NASM_DIRECTIVE = re.compile(
    r"\s*\[?\s*(section|segment|global|extern|bits|use64|default|cpu|align)\b\s*(.*)",
    re.DOTALL | re.IGNORECASE,
)
_STORE = re.compile(rf"\s*({QUOTED_NAME}|[^,]*),?(.*)", re.DOTALL)
_STORED = frozenset(["set", "equ", "equiv", "eqv"])


class _Parsed(Struct, frozen=True):
    """A raw statement parsed without context; offsets are relative to its start."""

    labels: tuple[tuple[str, int, int], ...]
    offset: int
    """Offset of ``text``, after labels and blanks."""
    text: str
    kind: StatementKind
    name: str = ""
    arguments: str = ""
    assignment: tuple[str, str] | None = None
    """Symbol and expression."""


def parse(text: str, is_att: bool) -> _Parsed:
    if has_odd_blank(text):
        # It is refused where it would be encoded, with all of its labels.
        return _Parsed((), 0, text, StatementKind.INSTRUCTION)
    labels = []
    position = 0
    while ":" in text and (match := LABEL.match(text, position)):
        name = symbol_of(match[1])
        labels.append((name.lstrip("0") or "0" if name.isdigit() else name, match.start(1), match.end(1)))
        position = match.end()
    rest = text[position:].rstrip()
    stripped = rest.lstrip()
    found = (tuple(labels), position + len(rest) - len(stripped), stripped)
    if not stripped or stripped[0] == "/":
        return _Parsed(*found, StatementKind.NOTHING)
    if "=" in stripped and (match := _ASSIGNMENT.fullmatch(stripped)):
        return _Parsed(*found, StatementKind.NOTHING, assignment=(symbol_of(match[1]), match[2]))
    if stripped[0] == "." and (match := _DIRECTIVE.fullmatch(stripped)):
        name, arguments = match[1].lower(), match[2]
        assignment = None
        if name in _STORED and (stored := _STORE.fullmatch(arguments)):
            assignment = (symbol_of(stored[1].strip()), stored[2])
        return _Parsed(*found, StatementKind.DIRECTIVE, name, arguments, assignment)
    if not is_att and (match := _NASM_DIRECTIVE.fullmatch(stripped)):
        word = match[1].lower()
        name = {"align": "balign", "global": "globl", "extern": "extern", "default": "default"}.get(
            word, "section"
        )
        is_followed = word in ("section", "segment", "global", "extern", "align", "default")
        kind = StatementKind.DIRECTIVE if is_followed else StatementKind.NOTHING
        return _Parsed(*found, kind, name, match[2].rstrip("] \t"))
    if not is_att and (match := _EQU.fullmatch(stripped)):
        return _Parsed(*found, StatementKind.NOTHING, assignment=(match[1], match[2]))
    return _Parsed(*found, StatementKind.INSTRUCTION)
