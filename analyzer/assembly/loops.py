"""Loops that nobody marked: from a label to the jump back to it, the innermost ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from cyclelens.analyzer.assembly.instructions import JUMPS
from cyclelens.analyzer.assembly.program import Kind, Label, Program
from cyclelens.analyzer.assembly.regions import MAXIMUM_REGIONS, Span
from cyclelens.analyzer.assembly.scanner import Lines

_JUMP = re.compile(r"(?:(?:bnd|notrack)\s+)?([a-z]+)\s+(?:short\s+)?([\w.$?@]+)\s*$", re.IGNORECASE)
_LOOPING = frozenset(JUMPS) - {"call", "callq", "xbegin"}

FoundLoop = tuple[Span, int, int]
"""The loop as a region, and its first statement and the one behind its last."""


def innermost(jumps: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """First and last place of the loops within which no other one begins and ends; ``jumps``: their places
    and targets, in order."""
    latest = -1
    for jump, target in jumps:
        # What goes back no further than the loop before ends later than that.
        if latest < target <= jump:
            latest = target
            yield target, jump


def find_loops(program: Program, lines: Lines) -> list[FoundLoop]:
    """The innermost loops in the order of the text: no other one begins and ends within them.

    They are called as their label; those at a numeric label, ``loop-LINE`` with the line counted from 1.
    """
    found: list[FoundLoop] = []
    taken: set[str] = set()
    jumps = {index: (label, name) for index, label, name in _jumps_back(program)}
    for first, index in innermost((index, label.index) for index, (label, _) in jumps.items()):
        label, name = jumps[index]
        begin, end = program.span(index)
        line, column, end_column = lines.span(label.start, label.end)
        if name[0].isdigit() or name in taken or name in (".", "$"):
            name = f"loop-{line + 1}"
            name = name if name not in taken else f"{name}-{len(found)}"
        taken.add(name)
        last_line = max(lines.locate(begin)[0], line)
        span = Span(name, label.start, max(end, label.start), line, last_line, column, end_column)
        found.append((span, first, index + 1))
        if len(found) == MAXIMUM_REGIONS:
            break
    return found


def _jumps_back(program: Program) -> Iterator[tuple[int, Label, str]]:
    """Statement, target and its name of the jumps to what stands before them."""
    for index, statement in enumerate(program.statements):
        if statement.kind is not Kind.INSTRUCTION or statement.text[0] not in "jlJLbBnN":
            continue
        match = _JUMP.match(statement.text)
        if match is None or match[1].lower() not in _LOOPING:
            continue
        label = program.find_label(match[2], index)
        if label is not None and label.section == statement.section and label.index <= index:
            yield index, label, match[2]
