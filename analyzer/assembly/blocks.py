"""Regions that branch within themselves, cut into basic blocks.

A block ends behind a jump to another place of the region, and in front of every place that such a jump goes
to. Jumps out of the region are taken to fall through, as everywhere, and cut nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from cyclelens.analyzer.assembly.layout import Piece

_FALLING_BACK = frozenset(["call", "callq", "xbegin"])
"""Jumps that come back, or that only an abort takes."""


def cut(pieces: Sequence[Piece], inside: Sequence[int]) -> list[Sequence[int]]:
    """The region's pieces (indices of ``pieces``) in runs without a branch to within the region; one run if
    it is straight-line code, or a loop around such code."""
    if not inside:
        return [inside]
    first, last = inside[0], inside[-1]
    starts: set[int] = set()
    for place, at in enumerate(inside):
        piece = pieces[at]
        if piece.jump is None or piece.target is None or piece.jump.mnemonic in _FALLING_BACK:
            continue
        if not first <= piece.target <= last or (at == last and piece.target == first):
            continue
        starts.add(piece.target)
        if place + 1 < len(inside):
            starts.add(inside[place + 1])
    runs: list[list[int]] = [[]]
    for at in inside:
        if at in starts and runs[-1]:
            runs.append([])
        runs[-1].append(at)
    return list(runs)


def ends_in_jump_to_start(pieces: Sequence[Piece], run: Sequence[int]) -> bool:
    """Is the last instruction of a run a jump to its first?"""
    emitted = [pieces[at] for at in run if pieces[at].code]
    if not emitted or emitted[-1].jump is None or emitted[-1].jump.mnemonic in _FALLING_BACK:
        return False
    target = emitted[-1].target
    if target is None or target >= len(pieces):
        return False
    return pieces[target].offset == emitted[0].offset
