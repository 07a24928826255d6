"""The bound by switches between legacy SSE and 256-bit code (UH2): nothing overlaps with them."""

from __future__ import annotations

from cyclelens.analyzer.model.uops import Block


def upper_half_bound(block: Block) -> float:
    """Cycles per iteration in which upper halves are put aside or fetched back; 0 if none are."""
    switches = [each.template().uops[0] for each in block.entries if each.like().switches_upper_halves]
    return float(sum(latency for uop in switches for _, latency in uop.outputs))
