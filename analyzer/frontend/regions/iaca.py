"""Finds IACA's markers, which are code: ``mov ebx, 111`` and three bytes open a region, ``222`` closes it."""

from __future__ import annotations

import re

from cyclelens.analyzer.frontend.control_flow.loops import CodeRange
from cyclelens.analyzer.frontend.programs.program import Program, Statement
from cyclelens.analyzer.frontend.source.markers import Span
from cyclelens.analyzer.frontend.source.problems import make_problem
from cyclelens.analyzer.frontend.source.scanner import LineIndex
from cyclelens.analyzer.model.source import Problem, Severity

_MOVE = r"(?i)movl?\s+(?:\$(111|222|0x6f|0xde)\s*,\s*%ebx|ebx\s*,\s*(111|222|0x6f|0xde))\s*"
_OPENING = frozenset(["111", "0x6f"])
_BYTES = [[100, 103, 144]]


def find_iaca(program: Program, lines: LineIndex) -> tuple[list[CodeRange], list[Problem]]:
    """Regions between IACA's markers, named ``iaca-1`` and so on, and problems for unpaired markers."""
    found: list[CodeRange] = []
    problems: list[Problem] = []
    begin: tuple[int, int] | None = None
    statements = program.statements

    def report(code: str, message: str, index: int) -> None:
        place = lines.span(*program.span(index))
        problems.append(make_problem(code, message, *place, Severity.WARNING))

    for index, statement in enumerate(statements):
        match = re.fullmatch(_MOVE, statement.text) if statement.text[:3].lower() == "mov" else None
        after = _behind_bytes(statements, index + 1) if match else None
        if match is None or after is None:
            continue
        if (match[1] or match[2]).lower() in _OPENING:
            if begin is not None:
                report("region-not-closed", "This IACA region is never closed.", begin[0])
            begin = index, after
        elif begin is None:
            report("region-end-without-begin", "No IACA region is open here.", index)
        else:
            opening, first = program.span(begin[0]), begin[1]
            end = program.span(index)[0]
            line, column, end_column = lines.span(*opening)
            last_line = lines.locate(end)[0]
            name = f"iaca-{len(found) + 1}"
            span = Span(name, opening[1], end, line, last_line, column, end_column)
            found.append(CodeRange(span, first, index))
            begin = None
    if begin is not None:
        report("region-not-closed", "This IACA region is never closed.", begin[0])
    return found, problems


def _behind_bytes(statements: list[Statement], index: int) -> int | None:
    """Index after a marker's three bytes that begin at a statement; None if they are missing."""
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
