"""Cycles per iteration that the execution ports need."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.uops import Block


def port_bound(
    block: Block, microarchitecture: Microarchitecture, elimination: Sequence[float] | None = None
) -> float:
    """The uops that only the ports of a set can take, over the size of the set, for the worst of all unions
    of two port sets that occur.

    ``elimination``: for each instruction the share of moves that were NOT eliminated, as simulated; without
    it every eliminable move counts as eliminated, as an addition always does that the renamer can carry out.
    """
    counts: dict[int, float] = {}
    for position, template in enumerate(block.instructions):
        if template.fused_with_previous or template.added is not None:
            continue
        share = 1.0
        if template.eliminable_move:
            share = 0.0 if elimination is None else elimination[position]
        if share:
            for uop in template.uops:
                if uop.units.mask:
                    counts[uop.units.mask] = counts.get(uop.units.mask, 0.0) + share
    unions = {first | second for first, second in combinations_with_replacement(counts, 2)}

    def cycles(union: int) -> float:
        return sum(uops for units, uops in counts.items() if not units & ~union) / union.bit_count()

    return max((cycles(union) for union in unions if union), default=0.0)
