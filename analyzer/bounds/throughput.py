"""Bound of instructions that begin only every so many cycles (D3, D4)."""

from __future__ import annotations

from collections import Counter

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.uops import STORE_ORDER, Block, InstructionTemplate

_EXPLAINS = 0.98
"""Share of a figure that instances which all had to wait have to explain."""


def throughput_bound(
    block: Block, microarchitecture: Microarchitecture, cycles: float | None = None
) -> float:
    """Cycles per iteration between instances that keep the same thing busy, for the one that is busy
    longest; 0 if there is none, and on cores that count macro-ops, where such instructions occupy units.

    ``cycles``: the simulated cycles per iteration. Instances that had to wait take longer, which counts if it
    explains this figure.
    """
    if microarchitecture.macro_ops is not None:
        return 0.0
    least: Counter[str] = Counter()
    waited: Counter[str] = Counter()
    for template in block.instructions:
        if template.tp and not template.fused_with_previous:
            least[template.occupies] += template.tp
            waited[template.occupies] += template.tp_after_wait or template.tp
    if STORE_ORDER in least:
        stores = sum(1 for each in block.instructions if not each.tp and _stores(each))
        least[STORE_ORDER] += stores
        waited[STORE_ORDER] += stores
    longest = float(max(waited.values(), default=0))
    if cycles is not None and _EXPLAINS * cycles <= longest <= cycles:
        return longest
    return float(max(least.values(), default=0))


def _stores(template: InstructionTemplate) -> bool:
    return any(access.written for access in template.memory_operands)
