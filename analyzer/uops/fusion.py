"""Micro-fusion and lamination (G1 to G4) and macro-fusion (A1 to A3); rule labels as in docs/pipeline.md."""

from __future__ import annotations

from collections.abc import Sequence

from cyclelens.analyzer.model.units import UnitUse, UopKind
from cyclelens.analyzer.model.uops import UopTemplate

_JOINING = frozenset({UopKind.LOAD, UopKind.STORE_ADDRESS})
"""Uops that share an issue slot with the one behind them."""


def _group(count: int, groups: int, joins: Sequence[bool]) -> tuple[int, ...]:
    """Sizes of ``groups`` groups over ``count`` members: a member that may join takes its successor along
    as long as enough members stay for the other groups; the last group takes everything left."""
    sizes: list[int] = []
    position = 0
    for remaining in range(groups - 1, 0, -1):
        left = count - position - 1
        size = 2 if joins[position] and left > remaining else 1
        sizes.append(size)
        position += size
    sizes.append(count - position)
    return tuple(sizes)


def fuse(uops: Sequence[UopTemplate], retire_slots: int) -> tuple[int, ...]:
    """Number of uops in every fused uop (G1)."""
    joins = [uop.kind in _JOINING for uop in uops]
    return _group(len(uops), retire_slots, joins)


def laminate(uops: Sequence[UopTemplate], fused: Sequence[int], delivered: int) -> tuple[int, ...]:
    """Number of fused uops in every IDQ uop (G2); ``delivered`` is MITE plus MS uops."""
    joins = []
    position = 0
    for size in fused:
        joins.append(size == 1 and uops[position].kind in _JOINING)
        position += size
    return _group(len(fused), min(delivered, len(fused)), joins)


def fuse_branch(
    uses: tuple[UnitUse, ...], uops: int, branch_uses: tuple[UnitUse, ...], branch_uops: int
) -> tuple[tuple[UnitUse, ...], int]:
    """Units and uop count of an instruction that has absorbed its branch (A2)."""
    if uops == 0:
        return branch_uses, branch_uops
    branch = branch_uses[0].units
    for position, (kind, units, count) in enumerate(uses):
        if kind is not UopKind.COMPUTE or branch.mask & ~units.mask:
            continue
        rest = uses[:position] + uses[position + 1 :]
        if any(use.units == branch for use in rest):
            return tuple(use._replace(uops=count) if use.units == branch else use for use in rest), uops
        return (*rest, UnitUse(kind, branch, count)), uops
    return uses, uops
