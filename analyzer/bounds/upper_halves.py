"""Bound of switches between legacy SSE and 256-bit code (UH2): nothing overlaps with them."""

from __future__ import annotations

from cyclelens.analyzer.model.uops import Block


def upper_half_bound(block: Block) -> float:
    """Cycles per iteration spent saving or restoring upper halves; 0 if there are no switches."""
    switches = [each.template().uops[0] for each in block.entries if each.like().switches_upper_halves]
    return float(sum(latency for uop in switches for _, latency in uop.outputs))
