"""Cycles per iteration that the loop stream detector (LSD) needs to deliver a loop."""

from __future__ import annotations

from math import ceil

from cyclelens.analyzer.bounds.issue import issue_bound
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.uops import Block


def lsd_bound(block: Block, microarchitecture: Microarchitecture) -> float:
    """The unrolled rounds leave at the issue width; the last uop of a batch and the first of the next never
    share a cycle, where batches have borders."""
    if not microarchitecture.lsd_has_borders:
        return issue_bound(block, microarchitecture)
    uops = sum(
        template.mite_uops + template.ms_uops
        for template in block.instructions
        if not template.fused_with_previous
    )
    copies = microarchitecture.lsd_unroll.get(uops, 1)
    return ceil(uops * copies / microarchitecture.issue_width) / copies
