"""Bound of instructions that begin only every so many cycles (D3, D4)."""

from __future__ import annotations

from collections import Counter

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.uops import Block


def throughput_bound(block: Block, microarchitecture: Microarchitecture) -> float:
    """Cycles per iteration between the instances of one form, for the form that needs most; 0 if there is
    none, and on cores that count macro-ops, where such instructions occupy units."""
    if microarchitecture.macro_ops is not None:
        return 0.0
    needed: Counter[str] = Counter()
    for template in block.instructions:
        if template.tp and not template.fused_with_previous:
            needed[template.name] += template.tp
    return float(max(needed.values(), default=0))
