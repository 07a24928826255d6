"""The baseline of uiCA's paper, which knows only how many instructions and memory accesses a block has.

Abel and Reineke, "uiCA: Accurate Throughput Prediction of Basic Blocks on Recent Intel Microarchitectures",
ICS 2022. Repeated end to end: max(n / 4, r / 2, w / s). As a loop: max(1, (n - 1) / i, r / 2, w / s). Here n
are the instructions, r the reads and w the writes of memory, s the stores that a core starts per cycle, and i
its issue width; the branch of a loop fuses with the instruction before it.
"""

from __future__ import annotations

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.units import Role, UopKind
from cyclelens.analyzer.model.uops import Block

_DECODED = 4
_READS = 2


def baseline(block: Block, microarchitecture: Microarchitecture) -> float:
    """Cycles per iteration. Raises ValueError for a block without instructions."""
    if not block.instructions:
        raise ValueError("a block without instructions has no throughput")
    count = len(block.instructions)
    kinds = [uop.kind for template in block.instructions for uop in template.uops]
    stores = len(microarchitecture.units.having(Role.STORE_DATA).names)
    memory = max(kinds.count(UopKind.LOAD) / _READS, kinds.count(UopKind.STORE_ADDRESS) / max(stores, 1))
    if block.loop:
        return max(1.0, (count - 1) / microarchitecture.issue_width, memory)
    return max(count / _DECODED, memory)
