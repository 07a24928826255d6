"""Loops that nobody marked: the innermost ones of a text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cyclelens.analyzer.assembly import control_flow
from cyclelens.analyzer.assembly.control_flow import Block
from cyclelens.analyzer.assembly.program import Program
from cyclelens.analyzer.assembly.program_flow import ProgramFlow
from cyclelens.analyzer.assembly.regions import MAXIMUM_REGIONS, Span
from cyclelens.analyzer.assembly.scanner import Lines


class FoundCode(NamedTuple):
    """A region, and the statements that its code is made of."""

    span: Span
    first: int
    """The first statement."""
    last: int
    """The one behind the last."""
    parts: Sequence[Block] = ()
    """Its basic blocks if it is a loop with several ways around, else its pieces in the order of execution;
    empty if it is all that stands between the first and the last statement."""
    is_path: bool = False
    """There is only one way around."""
    elsewhere: str = ""
    """Another section that has code of it, which is left out."""

    @property
    def own(self) -> Sequence[Block]:
        """All statements of it."""
        return self.parts or [Block(self.first, self.last)]


def find_loops(program: Program, lines: Lines) -> list[FoundCode]:
    """The innermost loops. They are called as the label that they begin at; those at a numeric label,
    ``loop-LINE`` with the line counted from 1."""
    flow = ProgramFlow(program)
    found: list[FoundCode] = []
    taken: set[str] = set()
    for loop in control_flow.find_loops(flow.code()):
        if loop.inner:
            continue
        parts, is_path = loop.parts()
        blocks = [Block(flow.statement(part.first), flow.statement(part.end - 1) + 1) for part in parts]
        label, name = flow.label(loop.lowest)
        sections = [program.statements[block.first].section for block in blocks]
        own = [block for block, section in zip(blocks, sections, strict=True) if section == label.section]
        elsewhere = next((section for section in sections if section != label.section), "")
        first, last = min(block.first for block in own), max(block.end for block in own)
        line, column, end_column = lines.span(label.start, label.end)
        if not name or name[0].isdigit() or name in taken or name in (".", "$"):
            name = f"loop-{line + 1}"
            name = name if name not in taken else f"{name}-{len(found)}"
        taken.add(name)
        begin, end = program.span(last - 1)
        last_line = max(lines.locate(begin)[0], line)
        span = Span(name, label.start, max(end, label.start), line, last_line, column, end_column)
        found.append(FoundCode(span, first, last, own, is_path and not elsewhere, elsewhere))
        if len(found) == MAXIMUM_REGIONS:
            break
    return found
