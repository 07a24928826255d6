"""Regions that branch within themselves, cut into basic blocks.

A block ends behind a jump to another place of the region, and in front of every place that such a jump goes
to. Jumps out of the region are taken to fall through, as everywhere, and cut nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from cyclelens.analyzer.assembly.layout import Piece
from cyclelens.analyzer.assembly.regions import Span
from cyclelens.analyzer.model.source import LINE_BYTES, Placement, Region, SourceLine

FALLING_BACK = frozenset(["call", "callq", "xbegin"])
"""Jumps that come back, or that only an abort takes."""


def cut(
    targets: Sequence[int | None] | Mapping[int, int | None],
    inside: Sequence[int],
    leaving: Collection[int] = (),
) -> list[Sequence[int]]:
    """The region's pieces (``inside``, rising indices) in runs without a branch to within the region; one run
    if it is straight-line code, or a loop around such code. ``targets``: for every piece the one that it
    jumps to, None for what comes back or leaves the file. ``leaving``: pieces that nothing goes on behind.
    """
    if not inside:
        return [inside]
    first, last = inside[0], inside[-1]
    starts: set[int] = set()
    for place, at in enumerate(inside):
        target = targets[at]
        jumps = target is not None and first <= target <= last and not (at == last and target == first)
        if target is not None and jumps:
            starts.add(target)
        if (jumps or at in leaving) and place + 1 < len(inside):
            starts.add(inside[place + 1])
    runs: list[list[int]] = [[]]
    for at in inside:
        if at in starts and runs[-1]:
            runs.append([])
        runs[-1].append(at)
    return list(runs)


def target_of(piece: Piece) -> int | None:
    """The piece that a jump goes to and does not come back from."""
    return None if piece.jump is None or piece.jump.mnemonic in FALLING_BACK else piece.target


def ends_in_jump_to_start(pieces: Sequence[Piece], run: Sequence[int]) -> bool:
    """Is the last instruction of a run a jump to its first?"""
    emitted = [pieces[at] for at in run if pieces[at].code]
    target = target_of(emitted[-1]) if emitted else None
    if target is None or target >= len(pieces):
        return False
    return pieces[target].offset == emitted[0].offset


def to_regions(
    span: Span,
    pieces: Sequence[Piece],
    inside: Sequence[int],
    source_line: Callable[[int], SourceLine],
    incomplete: bool,
    placement: Placement,
    runs: Sequence[Sequence[int]] = (),
) -> list[Region]:
    """A stretch of code as a region, or as its basic blocks if it branches within itself. Incomplete code is
    not cut. ``source_line`` of a piece that has code; ``placement`` of the first; ``runs``: the blocks if
    they are known."""
    if not runs:
        targets = {at: target_of(pieces[at]) for at in inside}
        runs = cut(targets, inside)
    runs = [inside] if incomplete else runs
    # An alignment that fills nothing may stand between two blocks.
    runs = [run for run in runs if any(pieces[at].code for at in run)] or [inside]
    regions = []
    for number, run in enumerate(runs, 1):
        lines = tuple(source_line(at) for at in run if pieces[at].code)
        loops = ends_in_jump_to_start(pieces, run)
        if len(runs) == 1:
            place = span.first_line, span.last_line
            return [Region(span.name, *place, span.options, lines, loops, incomplete, placement=placement)]
        # A block lies where it lies within the region.
        start = pieces[run[0]].offset - pieces[inside[0]].offset
        options = {key: value for key, value in span.options.items() if key not in ("align", "alignment")}
        given = span.options.get("alignment", span.options.get("align"))
        if given is not None:
            known = given.isdecimal()
            options["alignment"] = str((start + int(given)) % LINE_BYTES) if known else given
        numbers = [line.line for line in lines] or [span.first_line]
        place = min(numbers), max(numbers)
        name, own = f"{span.name}.{number}", placement.moved(start)
        regions.append(Region(name, *place, options, lines, loops, placement=own))
    return regions
