"""Control flow between the blocks of a region that branches within itself, and the paths through it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cyclelens.analyzer.frontend.control_flow.control_flow import TransferKind
from cyclelens.analyzer.frontend.control_flow.loop_parts import Skeleton
from cyclelens.analyzer.model.source import END, Branching, JumpPlace, Region
from msgspec import Struct

MAXIMUM_PATHS = 8
"""Maximum number of paths that are analysed one by one."""

_Next = Sequence[int | None]
"""Next block of each block."""
Ending = tuple[TransferKind | None, int | None]
"""How control leaves a block (None if it falls through) and the block of the region that it jumps to."""


def of_blocks(whole: Region, blocks: Sequence[Region], endings: Sequence[Ending]) -> Branching | None:
    """Control flow of a marked region, entered at its first block. None if a jump has unknown targets.
    ``whole`` has the region's name, place and options."""
    if any(kind is TransferKind.SWITCH for kind, _ in endings):
        return None
    passed: list[int | None] = []
    taken: list[int | None] = []
    for number, (kind, target) in enumerate(endings, 1):
        goes_on = kind in (None, TransferKind.BRANCH, TransferKind.CALL)
        passed.append((number if number < len(endings) else END) if goes_on else None)
        taken.append(target if kind in (TransferKind.BRANCH, TransferKind.JUMP) else None)
    is_loop = 0 in taken
    if is_loop:
        passed, taken = _around(passed), _around(taken)
        coming = _leading_to_end(passed, taken)
        passed, taken = (
            [at if at == END or at in coming else None for at in each] for each in (passed, taken)
        )
    else:
        passed = [END if on is None and jump is None else on for on, jump in zip(passed, taken, strict=True)]
    names = tuple(region.name for region in blocks)
    last = (region.lines[-1] for region in blocks)
    jumps = tuple(JumpPlace(line.line, line.text, line.address) for line in last)
    return _branching(whole, is_loop, names, _Course(tuple(passed), tuple(taken), 0), jumps)


def of_loop(
    region: Region,
    skeleton: Skeleton,
    jumps: tuple[JumpPlace, ...],
    names: Mapping[tuple[int, int], str],
) -> Branching:
    """Control flow of a detected loop. ``jumps``: last statements of its blocks. ``names``: region names by
    loop key and part number."""
    blocks = tuple("" if part is None else names.get(part, "") for part in skeleton.parts)
    course = _Course(skeleton.passed, skeleton.taken, skeleton.entry)
    return _branching(region, True, blocks, course, jumps)


class _Course(Struct, frozen=True):
    """Successor of each block without and with its jump, and the entry block."""

    passed: tuple[int | None, ...]
    taken: tuple[int | None, ...]
    entry: int


def _branching(
    region: Region, is_loop: bool, blocks: tuple[str, ...], course: _Course, jumps: tuple[JumpPlace, ...]
) -> Branching:
    paths = () if "" in blocks else _paths(course)
    place = region.name, region.first_line, region.last_line
    return Branching(
        *place, region.options, is_loop, blocks, course.passed, course.taken, jumps, course.entry, paths
    )


def _around(following: _Next) -> list[int | None]:
    """Successors within a loop: the first block becomes the end of an iteration, and the end becomes an exit
    (None)."""
    return [END if at == 0 else None if at == END else at for at in following]


def _leading_to_end(passed: _Next, taken: _Next) -> set[int]:
    """Blocks that reach the end."""
    before: dict[int, list[int]] = {}
    for following in (passed, taken):
        for block, at in enumerate(following):
            if at is not None:
                before.setdefault(at, []).append(block)
    found: set[int] = set()
    left = [END]
    while left:
        for block in before.get(left.pop(), ()):
            if block not in found:
                found.add(block)
                left.append(block)
    return found


def _paths(course: _Course) -> tuple[tuple[int, ...], ...]:
    """All paths, those without jumps first. Empty if a path revisits a block, or if there are too many."""
    found: list[tuple[int, ...]] = []
    left: list[tuple[int, ...]] = [(course.entry,)]
    count = 0
    while left:
        path = left.pop()
        if path[-1] == END:
            found.append(path[:-1])
            continue
        following = dict.fromkeys(
            at for at in (course.taken[path[-1]], course.passed[path[-1]]) if at is not None
        )
        # Counted where they end, not when they are found: a jump to the end may wait for all code behind it.
        count += END in following
        if count > MAXIMUM_PATHS or not following.keys().isdisjoint(path):
            return ()
        left += ((*path, at) for at in following)
    return tuple(found)
