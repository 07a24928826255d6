"""Micro-fusion and lamination (G1 to G4) and macro-fusion (A1 to A3); rule labels as in docs/pipeline.md."""

from __future__ import annotations

from collections.abc import Sequence

from cyclelens.analyzer.model.facts import PortUse
from cyclelens.analyzer.model.uops import UopTemplate

_MEMORY_PORTS = frozenset("237")


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
    joins = [bool(_MEMORY_PORTS & frozenset(uop.ports)) for uop in uops]
    return _group(len(uops), retire_slots, joins)


def laminate(uops: Sequence[UopTemplate], fused: Sequence[int], delivered: int) -> tuple[int, ...]:
    """Number of fused uops in every IDQ uop (G2); ``delivered`` is MITE plus MS uops."""
    joins = []
    position = 0
    for size in fused:
        joins.append(size == 1 and bool(_MEMORY_PORTS & frozenset(uops[position].ports)))
        position += size
    return _group(len(fused), min(delivered, len(fused)), joins)


def fuse_branch(
    ports: tuple[PortUse, ...], uops: int, branch_ports: tuple[PortUse, ...], branch_uops: int
) -> tuple[tuple[PortUse, ...], int]:
    """Port sets and uop count of an instruction that has absorbed its branch (A2)."""
    if uops == 0:
        return branch_ports, branch_uops
    branch = branch_ports[0][0]
    for position, (allowed, count) in enumerate(ports):
        if not set(branch) <= set(allowed):
            continue
        rest = ports[:position] + ports[position + 1 :]
        if any(existing == branch for existing, _ in rest):
            return tuple((p, count if p == branch else c) for p, c in rest), uops
        return (*rest, (branch, count)), uops
    return ports, uops
