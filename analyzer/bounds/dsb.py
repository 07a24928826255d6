"""Bound of the uop cache (DSB) for a loop, in cycles per iteration."""

from __future__ import annotations

from collections import Counter
from math import ceil

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.uops import Block
from cyclelens.analyzer.uops.op_cache import EIGHTHS, layout

_BLOCK_BYTES = 32
_UOPS = 6
"""Most uops delivered per cycle, unless the DSB is wider. As in the uiCA model, the bound uses six
everywhere: a valid lower bound for models that deliver four."""


def dsb_bound(block: Block, microarchitecture: Microarchitecture) -> float:
    """Cycles per iteration of the DSB or op cache.

    On Intel, a loop that starts and ends in the same 32 bytes never shares a cycle between two rounds. Cores
    that count macro-ops read the op cache by windows. Some cores pass only a few taken branches per cycle
    (X6); a loop has one at its end. Others read one line per cycle (X1).
    """
    if microarchitecture.macro_ops is not None:
        return layout(block.instructions, block.alignment, microarchitecture.macro_ops).eighths / EIGHTHS
    width = max(_UOPS, microarchitecture.dsb_width)
    uops = sum(template.mite_uops for template in block.instructions if not template.fused_with_previous)
    before_last = sum(len(template.instruction.code) for template in block.instructions[:-1])
    start = block.alignment // _BLOCK_BYTES
    alone = not microarchitecture.dsb_serves_rounds_together
    if alone and (block.alignment + before_last) // _BLOCK_BYTES == start:
        return float(ceil(uops / width))
    if microarchitecture.dsb_lines_per_cycle == 1 and not any(
        each.is_jump for each in block.instructions[:-1]
    ):
        return float(max(1, _lines(block, microarchitecture)))
    if limit := microarchitecture.taken_branches_per_cycle:
        jumps = sum(template.is_jump for template in block.instructions[:-1])
        return max(uops / width, (jumps + 1) / limit)
    return uops / width


def _lines(block: Block, microarchitecture: Microarchitecture) -> int:
    """Fewest lines that hold the uops."""
    uops = Counter[int]()
    address = block.alignment
    for template in block.instructions:
        if not template.fused_with_previous:
            uops[address // microarchitecture.dsb_block_bytes] += template.mite_uops
        address += len(template.instruction.code)
    slots = max(_UOPS, microarchitecture.dsb_width)
    return sum(ceil(count / slots) for count in uops.values())
