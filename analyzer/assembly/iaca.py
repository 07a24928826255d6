"""IACA's markers, which are code: ``mov ebx, 111`` and three bytes open a region, ``222`` closes it."""

from __future__ import annotations

import re

from cyclelens.analyzer.assembly.loops import FoundLoop
from cyclelens.analyzer.assembly.problems import make_problem
from cyclelens.analyzer.assembly.program import Program, Statement
from cyclelens.analyzer.assembly.regions import MAXIMUM_REGIONS, Span
from cyclelens.analyzer.assembly.scanner import Lines
from cyclelens.analyzer.model.source import Problem, Severity

MARKER_BYTES = re.compile(
    r"(?:100|0x64)(?:\s*,\s*|\s+\.byte\s+)(?:103|0x67)(?:\s*,\s*|\s+\.byte\s+)(?:144|0x90)", re.IGNORECASE
)
"""What a text with such markers holds somewhere."""
_MOVE = re.compile(
    r"movl?\s+(?:\$(111|222|0x6f|0xde)\s*,\s*%ebx|ebx\s*,\s*(111|222|0x6f|0xde))\s*", re.IGNORECASE
)
_OPENING = frozenset(["111", "0x6f"])
_BYTES = [[100, 103, 144]]


def find_iaca(program: Program, lines: Lines) -> tuple[list[FoundLoop], list[Problem]]:
    """The regions between IACA's markers, called ``iaca-1`` and so on, and markers that stand alone."""
    found: list[FoundLoop] = []
    problems: list[Problem] = []
    begin: tuple[Statement, int, int] | None = None
    statements = program.statements

    def report(code: str, message: str, statement: Statement) -> None:
        place = lines.span(statement.start, statement.end)
        problems.append(make_problem(code, message, *place, Severity.WARNING))

    for index, statement in enumerate(statements):
        match = _MOVE.fullmatch(statement.text) if statement.text[:3].lower() == "mov" else None
        after = _behind_bytes(statements, index + 1) if match else None
        if match is None or after is None:
            continue
        if (match[1] or match[2]).lower() in _OPENING:
            if begin is not None:
                report("region-not-closed", "This IACA region is never closed.", begin[0])
            begin = statement, index, after
        elif begin is None:
            report("region-end-without-begin", "No IACA region is open here.", statement)
        elif len(found) < MAXIMUM_REGIONS:
            opening, _, first = begin
            line, column, end_column = lines.span(opening.start, opening.end)
            last_line = lines.locate(statement.start)[0]
            name = f"iaca-{len(found) + 1}"
            span = Span(name, opening.end, statement.start, line, last_line, column, end_column)
            found.append((span, first, index))
            begin = None
    if begin is not None:
        report("region-not-closed", "This IACA region is never closed.", begin[0])
    return found, problems


def _behind_bytes(statements: list[Statement], index: int) -> int | None:
    """The index behind the three bytes of a marker that begin at a statement; None if they do not."""
    values: list[str] = []
    while index < len(statements) and len(values) < 3 and statements[index].name == "byte":
        values += [value.strip().lower() for value in statements[index].arguments.split(",")]
        index += 1
    return index if [_number(value) for value in values] in _BYTES else None


def _number(text: str) -> int:
    try:
        return int(text, 0)
    except ValueError:
        return -1
