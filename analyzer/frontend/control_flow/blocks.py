"""Splits regions with inner branches into basic blocks.

A block ends after a jump to another place of the region, and before every target of such a jump. Jumps out of
the region are assumed to fall through and split nothing.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import pairwise

from cyclelens.analyzer.common.recent import Caches
from cyclelens.analyzer.common.whole_numbers import whole_number
from cyclelens.analyzer.frontend.control_flow.branching import Ending, of_blocks
from cyclelens.analyzer.frontend.control_flow.control_flow import TransferKind, kind_of
from cyclelens.analyzer.frontend.source.markers import Span
from cyclelens.analyzer.frontend.statements.layout import Piece
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.model.source import LINE_BYTES, Branching, Placement, Region, SourceLine
from msgspec import Struct
from msgspec.structs import replace

FALLING_BACK = frozenset(["call", "callq", "xbegin"])
"""Calls, and jumps that only an abort takes: control continues after them."""


Made = tuple[list[Region], Branching | None]
"""A region, or its basic blocks and how control goes through them."""


class Enclosed(Struct, frozen=True):
    """The code inside a region."""

    span: Span
    pieces: Sequence[Piece]
    inside: Sequence[int]
    """Indices of the region's pieces, ascending."""
    source_line: Callable[[int], SourceLine]
    """Source line of a piece that has code."""
    placement: Placement
    """Placement of the first piece."""
    section: str = ""
    """Section of the pieces; empty if unknown."""
    incomplete: bool = False
    is_function: bool = False
    """For a function, a block also ends where control leaves for good."""


class FoundRuns(Struct, frozen=True):
    """Runs of pieces that a loop executes."""

    runs: Sequence[Sequence[int]]
    """Basic blocks, or all pieces in execution order if the loop has only one path."""
    numbers: Sequence[int] = ()
    """Numbers of the blocks, from 1."""
    is_function: bool = False

    @classmethod
    def of_loop(cls, runs: Sequence[Sequence[int]], numbers: Sequence[int]) -> FoundRuns:
        """The blocks of a loop; without ``numbers`` they are one run, because the loop has only one path."""
        return cls(runs, numbers) if numbers else cls([[at for run in runs for at in run]])


def cut(
    targets: Sequence[int | None] | Mapping[int, int | None],
    inside: Sequence[int],
    leaving: Collection[int] = (),
) -> list[Sequence[int]]:
    """Split a region's pieces (``inside``, ascending indices) at branches to places within the region. The
    result has one run for straight-line code, or for a loop around such code. ``targets``: jump target of
    each piece, None for calls and targets outside the file. ``leaving``: pieces after which control does not
    continue."""
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


def is_in_one_piece(pieces: Sequence[Piece], run: Sequence[int]) -> bool:
    """Whether these pieces are contiguous."""
    return all(
        pieces[after].offset == pieces[before].offset + len(pieces[before].code)
        for before, after in pairwise(run)
    )


def target_of(piece: Piece) -> int | None:
    """The piece that a jump without return goes to."""
    return None if piece.jump is None or piece.jump.mnemonic in FALLING_BACK else piece.target


def ends_in_jump_to_start(pieces: Sequence[Piece], run: Sequence[int]) -> bool:
    """Whether the last instruction of a run jumps to its first."""
    emitted = [pieces[at] for at in run if pieces[at].code]
    target = target_of(emitted[-1]) if emitted else None
    if target is None or target >= len(pieces):
        return False
    return pieces[target].offset == emitted[0].offset


def to_regions(code: Enclosed, found: FoundRuns | None = None, caches: Caches | None = None) -> Made:
    """Turn code into a region, or into basic blocks if it branches within itself. The second result is the
    control flow through a marked region's blocks. Incomplete code is not split. ``found``: how a detected
    loop is executed; None for marked regions. ``caches`` keep decoded instructions."""
    span, pieces, inside, placement = code.span, code.pieces, code.inside, code.placement
    if found is None:
        leaving = (
            [at for at in inside if pieces[at].code and _leaves(pieces[at], caches)]
            if (code.is_function)
            else []
        )
        runs = cut({at: target_of(pieces[at]) for at in inside}, inside, leaving)
        # An alignment that needs no padding may stand between two blocks.
        runs = [run for run in runs if any(pieces[at].code for at in run)] or [inside]
        found = FoundRuns(runs, range(1, len(runs) + 1) if len(runs) > 1 else ())
        is_marked = True
    else:
        is_marked = False
    whole = Region(span.name, span.first_line, span.last_line, span.options, incomplete=code.incomplete)
    whole = replace(whole, placement=placement, section=code.section, is_function=code.is_function)

    def made(run: Sequence[int]) -> Region:
        filled = [at for at in run if pieces[at].code]
        return replace(
            whole,
            lines=tuple(map(code.source_line, filled)),
            ends_in_jump_to_start=ends_in_jump_to_start(pieces, run),
            offsets=tuple(pieces[at].offset for at in filled) if code.section else (),
            instructions=decode(b"".join(pieces[at].code for at in filled), caches),
        )

    if code.incomplete or not found.numbers:
        run = inside if code.incomplete else found.runs[0]
        if is_in_one_piece(pieces, run):
            return [made(run)], None
        return [replace(made(run), placement=placement.pinned())], None
    regions = [
        _block(made(run), number, pieces[run[0]].offset - pieces[inside[0]].offset)
        for number, run in zip(found.numbers, found.runs, strict=True)
        if any(pieces[at].code for at in run)
    ]
    if not is_marked:
        return regions, None
    first = {run[0]: number for number, run in enumerate(found.runs)}
    starts = sorted(first)
    endings: list[Ending] = []
    for run in found.runs:
        last = pieces[max(at for at in run if pieces[at].code)]
        target = target_of(last)
        start = None if target is None else starts[max(bisect_right(starts, target) - 1, 0)]
        is_inside = target is not None and inside[0] <= target <= inside[-1]
        endings.append((_kind(last, caches), first[start] if start is not None and is_inside else None))
    return regions, of_blocks(whole, regions, endings)


def _block(region: Region, number: int, start: int) -> Region:
    """A basic block that starts ``start`` bytes into a region."""
    options = {key: value for key, value in region.options.items() if key not in ("align", "alignment")}
    given = region.options.get("alignment", region.options.get("align"))
    if given is not None:
        known = whole_number(given)
        options["alignment"] = given if known is None else str((start + known) % LINE_BYTES)
    numbers = [line.line for line in region.lines]
    return replace(
        region,
        name=f"{region.name}.{number}",
        first_line=min(numbers),
        last_line=max(numbers),
        options=options,
        placement=region.placement.moved(start),
        block_of=region.name,
    )


def _leaves(piece: Piece, caches: Caches | None) -> bool:
    """Whether control does not continue after a piece."""
    return _kind(piece, caches) in (
        TransferKind.JUMP,
        TransferKind.LEAVE,
        TransferKind.STOP,
        TransferKind.SWITCH,
    )


def _kind(piece: Piece, caches: Caches | None) -> TransferKind | None:
    """How control leaves a piece. Transaction aborts are ignored."""
    if piece.jump is not None:
        return None if piece.jump.mnemonic in FALLING_BACK else kind_of(piece.jump.mnemonic)
    kind = kind_of(decode(piece.code, caches)[-1].mnemonic)
    # An indirect jump has an unknown target; an indirect call returns.
    return (
        {TransferKind.JUMP: TransferKind.SWITCH, TransferKind.CALL: None, TransferKind.BRANCH: None}.get(
            kind, kind
        )
        if kind is not None
        else None
    )
