"""Finds the unmarked loops of an assembly text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from cyclelens.analyzer.common.recent import Caches
from cyclelens.analyzer.frontend.control_flow import control_flow
from cyclelens.analyzer.frontend.control_flow.branching import of_loop
from cyclelens.analyzer.frontend.control_flow.loop_parts import Loop, PlaceRange
from cyclelens.analyzer.frontend.control_flow.program_flow import ProgramFlow
from cyclelens.analyzer.frontend.programs.program import Program
from cyclelens.analyzer.frontend.source.markers import Span
from cyclelens.analyzer.frontend.source.scanner import LineIndex
from cyclelens.analyzer.model.source import Branching, JumpPlace, Region
from msgspec import Struct

MAXIMUM_BLOCKS = 4_000
"""Maximum basic blocks that a file's regions become. A region without branches inside is one block."""


class FoundLoop(Struct, frozen=True):
    """A loop, and the statements at its places."""

    loop: Loop
    jump_at: Callable[[int], JumpPlace]
    """The statement at a place, for messages."""

    @property
    def key(self) -> int:
        """A place that no other loop has."""
        return self.loop.key

    @property
    def is_innermost(self) -> bool:
        """Whether no loop is inside this one."""
        return not self.loop.inner


class CodeRange(Struct, frozen=True):
    """A region and its range of statements."""

    span: Span
    first: int
    """Index of the first statement."""
    last: int
    """Index after the last statement."""
    parts: Sequence[PlaceRange] = ()
    """For a loop: its basic blocks, or its pieces in execution order if it has only one path."""
    numbers: Sequence[int] = ()
    """Numbers of its basic blocks, from 1, if it has several paths."""
    loop: FoundLoop | None = None
    """None for marked code."""
    is_function: bool = False

    @property
    def own(self) -> Sequence[PlaceRange]:
        """All ranges of statements."""
        return self.parts or [PlaceRange(self.first, self.last)]


class MadeRegion(Struct, frozen=True):
    """What marked code, a function, or a loop's code in a section has become."""

    span: Span
    regions: Sequence[Region]
    """The region, or its basic blocks."""
    branching: Branching | None = None
    """Control flow through the blocks of marked code or of a function, if known."""
    loop: FoundLoop | None = None
    numbers: Sequence[int] = ()
    """For a loop with several paths: numbers of its basic blocks, from 1."""


def first_blocks(made: Iterable[MadeRegion]) -> tuple[list[MadeRegion], str, Span | None]:
    """The regions up to the limit on basic blocks. If there are more: a message, and the first region that
    lost blocks. Nothing is known of the control flow of such a region."""
    kept: list[MadeRegion] = []
    count, beyond = 0, None
    for one in made:
        room = max(MAXIMUM_BLOCKS - count, 0)
        count += len(one.regions)
        if len(one.regions) <= room:
            kept.append(one)
            continue
        beyond = beyond or one.span
        if room:
            kept.append(MadeRegion(one.span, one.regions[:room]))
    if beyond is None:
        return kept, "", None
    return kept, f"Only the first {MAXIMUM_BLOCKS:,} of {count:,} basic blocks are analysed.", beyond


def branchings(made: Iterable[MadeRegion]) -> Iterator[tuple[Span, Branching | None, str]]:
    """For every loop with several paths: its control flow if known, and a message if only its blocks get
    figures."""
    names: dict[tuple[int, int], str] = {}
    regions_of: dict[int, list[Region]] = {}
    spans: dict[int, Span] = {}
    several: dict[int, FoundLoop] = {}
    for one in made:
        if one.loop is None:
            continue
        key, span = one.loop.key, one.span
        spans.setdefault(key, span)
        if one.numbers:
            several[key] = one.loop
        regions_of.setdefault(key, []).extend(one.regions)
        known = {region.name for region in one.regions}
        if not one.numbers:
            names[key, 0] = span.name
        names |= {
            (key, number - 1): name for number in one.numbers if (name := f"{span.name}.{number}") in known
        }
    for key, loop in several.items():
        if any(region.incomplete for region in regions_of[key]):
            continue
        span = spans[key]
        place = Region(span.name, span.first_line, span.last_line, span.options)
        skeleton, branching = loop.loop.skeleton(), None
        if skeleton is not None:
            branching = of_loop(place, skeleton, tuple(map(loop.jump_at, skeleton.last)), names)
        message = ""
        if branching is None or not branching.paths:
            inner = [spans[other.key].name for other in loop.loop.inner if other.key in spans]
            count = len(regions_of[key])
            blocks = f"its {count} basic blocks are" if count > 1 else "its basic block is"
            message = f"'{span.name}' branches within itself: {blocks} analysed one by one."
            if inner:
                within = f"{', '.join(inner[:2])}{' and others' if len(inner) > 2 else ''}"
                message = f"'{span.name}' has inner loops ({within}): outside them, {blocks} analysed."
        yield span, branching, message


def name_loops(loops: Sequence[Loop], labels: Mapping[int, tuple[str, int]]) -> dict[int, str]:
    """Names of loops, by key: the label at the beginning, with the line from 1 if a macro made it before, or
    ``loop-LINE`` or ``outer-LINE``. ``labels``: label (empty if unsuitable) and line by key."""
    names: dict[int, str] = {}
    taken: set[str] = set()
    # Where an outer and an inner loop begin at the same place, the inner one gets the label.
    for loop in sorted(loops, key=lambda loop: bool(loop.inner)):
        name, line = labels[loop.key]
        if not name or name in taken:
            name = f"{'outer' if loop.inner else name or 'loop'}-{line + 1}"
        if name in taken:
            name = f"{name}-{len(taken)}"
        taken.add(name)
        names[loop.key] = name
    return names


def _is_name(label: str) -> bool:
    """Whether a label can name a loop: not a numeric label, ``.``, ``$`` or one of MASM's anonymous
    labels."""
    return not (label[:1].isdigit() or label in (".", "$") or label[:1] == "@")


def find_loops(
    program: Program, lines: LineIndex, size: Callable[[int], int | None], caches: Caches
) -> list[CodeRange]:
    """All loops; a loop with code in several sections has one entry for each section. ``size``: bytes of a
    statement, None if unknown."""
    flow = ProgramFlow(program, size)
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
        parts, is_path = loop.parts
        loop_found = FoundLoop(loop, jump_at)
        sections: dict[str, list[tuple[int, PlaceRange]]] = {}
        for number, part in enumerate(parts, 1):
            block = PlaceRange(flow.statement(part.block.first), flow.statement(part.block.end - 1) + 1)
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
