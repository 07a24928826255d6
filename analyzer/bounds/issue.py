"""Cycles per iteration that the renamer needs to issue the block."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.uops import Block


def issue_bound(block: Block, microarchitecture: Microarchitecture) -> float:
    """Fused uops over the issue width, without moves that share the slot of the instruction behind them."""
    slots = sum(
        template.retire_slots
        for template in block.instructions
        if not (template.fused_with_previous or template.joins_next)
    )
    return slots / microarchitecture.issue_width
