"""Bound of the execution ports, in cycles per iteration."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.uops import Block


def port_bound(
    block: Block, microarchitecture: Microarchitecture, elimination: Sequence[float] | None = None
) -> float:
    """Uops that can use only ports of a set, divided by its size; the maximum over all unions of two
    occurring port sets.

    ``elimination``: share of each instruction's moves that were NOT eliminated, as simulated. Without it,
    every eliminable move counts as eliminated, as additions at rename always do.
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
