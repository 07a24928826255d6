"""Loops that nobody marked: those of a text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from cyclelens.analyzer.common.named_tuple import NamedTuple
from cyclelens.analyzer.common.recent import Caches
from cyclelens.analyzer.frontend.control_flow import control_flow
from cyclelens.analyzer.frontend.control_flow.branching import of_loop
from cyclelens.analyzer.frontend.control_flow.loop_parts import Block, Loop, Skeleton
from cyclelens.analyzer.frontend.control_flow.program_flow import ProgramFlow
from cyclelens.analyzer.frontend.programs.program import Program
from cyclelens.analyzer.frontend.source.markers import Span
from cyclelens.analyzer.frontend.source.scanner import Lines
from cyclelens.analyzer.model.source import Branching, JumpPlace, Region


class FoundLoop(NamedTuple):
    """What is known of a loop besides its code."""

    key: int
    """``Loop.key``."""
    skeleton: Skeleton | None
    """Where its blocks lead, if it has several ways around and that is known."""
    jumps: tuple[JumpPlace, ...] = ()
    """The last statements of the skeleton's blocks."""
    inner: tuple[int, ...] = ()
    """The loops directly within it, by their keys."""


class CodeRange(NamedTuple):
    """A region, and the statements that its code is made of."""

    span: Span
    first: int
    """The first statement."""
    last: int
    """The one behind the last."""
    parts: Sequence[Block] = ()
    """Of a loop: its basic blocks, or if there is only one way around its pieces as they are executed."""
    numbers: Sequence[int] = ()
    """Those of its basic blocks, from 1, if there are several ways around."""
    loop: FoundLoop | None = None
    """None for what somebody marked."""
    is_function: bool = False

    @property
    def own(self) -> Sequence[Block]:
        """All statements of it."""
        return self.parts or [Block(self.first, self.last)]


class LoopRegion(NamedTuple):
    """What became of the code of a loop, or of a part of it."""

    span: Span
    loop: FoundLoop
    numbers: Sequence[int]
    regions: Sequence[Region]


def branchings(made: Sequence[LoopRegion]) -> Iterator[tuple[Span, Branching | None, str]]:
    """For every loop with several ways around where its blocks lead, if that is known, and what there is to
    say if its blocks alone have figures."""
    names: dict[tuple[int, int], str] = {}
    regions_of: dict[int, list[Region]] = {}
    for span, loop, numbers, regions in made:
        regions_of.setdefault(loop.key, []).extend(regions)
        known = {region.name for region in regions}
        if not numbers:
            names[loop.key, 0] = span.name
        names |= {
            (loop.key, number - 1): name for number in numbers if (name := f"{span.name}.{number}") in known
        }
    spans = {loop.key: span for span, loop, _, _ in reversed(made)}
    for key, loop in {loop.key: loop for _, loop, numbers, _ in made if numbers}.items():
        if any(region.incomplete for region in regions_of[key]):
            continue
        span = spans[key]
        place = Region(span.name, span.first_line, span.last_line, span.options)
        branching = None if loop.skeleton is None else of_loop(place, loop.skeleton, loop.jumps, names)
        message = ""
        if branching is None or not branching.ways:
            inner = [spans[other].name for other in loop.inner if other in spans]
            count = len(regions_of[key])
            blocks = f"its {count} basic blocks are" if count > 1 else "its basic block is"
            message = f"'{span.name}' branches within itself: {blocks} analysed one by one."
            if inner:
                within = f"{', '.join(inner[:2])}{' and others' if len(inner) > 2 else ''}"
                message = (
                    f"'{span.name}' has loops within it ({within}): what else it has, {blocks} analysed."
                )
        yield span, branching, message


def described(loop: Loop, is_path: bool, jump_at: Callable[[int], JumpPlace]) -> FoundLoop:
    """What there is to say of a loop besides its code; ``is_path``: there is only one way around."""
    skeleton = None if is_path else loop.skeleton()
    jumps = () if skeleton is None else tuple(jump_at(place) for place in skeleton.last)
    return FoundLoop(loop.key, skeleton, jumps, tuple(inner.key for inner in loop.inner))


def name_loops(loops: Sequence[Loop], labels: Mapping[int, tuple[str, int]]) -> dict[int, str]:
    """Names for loops, by their keys: that of the label at its beginning, or ``loop-LINE`` and ``outer-LINE``
    with the line counted from 1. ``labels``: by key the name, empty if it will not do, and the line."""
    names: dict[int, str] = {}
    taken: set[str] = set()
    # Where one loop begins with another, the label is that of the inner one.
    for loop in sorted(loops, key=lambda loop: bool(loop.inner)):
        name, line = labels[loop.key]
        if not name or name in taken:
            name = f"{'outer' if loop.inner else 'loop'}-{line + 1}"
        if name in taken:
            name = f"{name}-{len(taken)}"
        taken.add(name)
        names[loop.key] = name
    return names


def _is_name(label: str) -> bool:
    """Is it not the number of a label, the place itself, or one of MASM's labels without a name?"""
    return not (label[:1].isdigit() or label in (".", "$") or label[:1] == "@")


def find_loops(
    program: Program, lines: Lines, size: Callable[[int], int | None], caches: Caches
) -> list[CodeRange]:
    """All loops; one whose code is in several sections comes several times. ``size``: the bytes of a
    statement, None if they are not known."""
    flow = ProgramFlow(program, size, caches)
    loops = control_flow.find_loops(flow.code(), caches)
    labels = {loop.key: flow.label(loop.lowest) for loop in loops}
    known = {
        key: (name if _is_name(name) else "", lines.locate(label.start)[0])
        for key, (label, name) in labels.items()
    }
    names = name_loops(loops, known)

    def jump_at(place: int) -> JumpPlace:
        index = flow.statement(place)
        return JumpPlace(lines.locate(program.span(index)[0])[0], program.statements[index].text)

    found: list[CodeRange] = []
    for loop in loops:
        label, _ = labels[loop.key]
        parts, is_path = loop.parts()
        loop_found = described(loop, is_path, jump_at)
        sections: dict[str, list[tuple[int, Block]]] = {}
        for number, part in enumerate(parts, 1):
            block = Block(flow.statement(part.block.first), flow.statement(part.block.end - 1) + 1)
            sections.setdefault(program.statements[block.first].section, []).append((number, block))
        for section, own in sections.items():
            blocks = [block for _, block in own]
            first, last = min(block.first for block in blocks), max(block.end for block in blocks)
            begin, end = program.span(last - 1)
            place = (label.start, label.end) if section == label.section else program.span(first)
            line, column, end_column = lines.span(*place)
            last_line = max(lines.locate(begin)[0], line)
            end = max(end, place[0])
            span = Span(names[loop.key], place[0], end, line, last_line, column, end_column)
            numbers = () if is_path else tuple(number for number, _ in own)
            found.append(CodeRange(span, first, last, blocks, numbers, loop_found))
    return found
