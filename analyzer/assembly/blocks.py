"""Regions that branch within themselves, cut into basic blocks.

A block ends behind a jump to another place of the region, and in front of every place that such a jump goes
to. Jumps out of the region are taken to fall through, as everywhere, and cut nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from cyclelens.analyzer.assembly.layout import Piece

FALLING_BACK = frozenset(["call", "callq", "xbegin"])
"""Jumps that come back, or that only an abort takes."""


def cut(
    targets: Sequence[int | None], inside: Sequence[int], leaving: Collection[int] = ()
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
