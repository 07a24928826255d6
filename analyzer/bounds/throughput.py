"""Bound of instructions that begin only every so many cycles (D3, D4)."""

from __future__ import annotations

from collections import Counter

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.uops import STORE_ORDER, Block, InstructionTemplate


def throughput_bound(block: Block, microarchitecture: Microarchitecture) -> float:
    """Cycles per iteration between instances that keep the same thing busy, for the one that is busy
    longest; 0 if there is none, and on cores that count macro-ops, where such instructions occupy units."""
    if microarchitecture.macro_ops is not None:
        return 0.0
    needed: Counter[str] = Counter()
    for template in block.instructions:
        if template.tp and not template.fused_with_previous:
            needed[template.occupies] += template.tp
    if STORE_ORDER in needed:
        needed[STORE_ORDER] += sum(1 for each in block.instructions if not each.tp and _stores(each))
    return float(max(needed.values(), default=0))


def _stores(template: InstructionTemplate) -> bool:
    return any(access.written for access in template.memory_operands)
