"""Bound of the renamer's issue width, in cycles per iteration."""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.uops import Block


def issue_bound(block: Block, microarchitecture: Microarchitecture) -> float:
    """Fused uops divided by the issue width; moves that share the next instruction's slot do not count."""
    slots = sum(
        template.retire_slots
        for template in block.instructions
        if not (template.fused_with_previous or template.joins_next)
    )
    return slots / microarchitecture.issue_width
