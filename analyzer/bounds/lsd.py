"""Bound of the loop stream detector (LSD) for a loop, in cycles per iteration."""

from __future__ import annotations

from math import ceil

from cyclelens.analyzer.bounds.issue import issue_bound
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.uops import Block


def lsd_bound(block: Block, microarchitecture: Microarchitecture) -> float:
    """Cycles per iteration: unrolled rounds leave at the issue width. If batches have borders, the last uop
    of a batch and the first of the next never share a cycle."""
    if not microarchitecture.lsd_has_borders:
        return issue_bound(block, microarchitecture)
    uops = sum(
        template.mite_uops + template.ms_uops
        for template in block.instructions
        if not template.fused_with_previous
    )
    copies = microarchitecture.lsd_unroll.get(uops, 1)
    return ceil(uops * copies / microarchitecture.issue_width) / copies
