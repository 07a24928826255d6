"""Finds calls that return to a block, and returns after which the block is called again (4.7).

A called function takes no time here, but it returns: after the call, the stack pointer is as before. A block
that ends in a return is a function, which is called again. Neither holds for calls of code within the block.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from cyclelens.analyzer.model.instruction import Instruction, OperandKind

_NONE: frozenset[int] = frozenset()


def coming_back(instructions: Sequence[Instruction]) -> frozenset[int]:
    """Positions of calls and near returns after which RSP is as before. Constants that a
    return pops do not count."""
    found = [at for at, each in enumerate(instructions) if each.mnemonic in ("call", "ret")]
    if not found:
        return _NONE
    addresses = list(accumulate((len(each.code) for each in instructions), initial=0))
    within = {
        at for at in found if instructions[at].mnemonic == "call" and _leads_into(instructions, addresses, at)
    }
    if within:
        return frozenset(at for at in found if instructions[at].mnemonic == "call") - within
    return frozenset(found)


def _leads_into(instructions: Sequence[Instruction], addresses: Sequence[int], at: int) -> bool:
    """True if a call leads into its own block.

    A call of the next instruction does if that pops the return address. Otherwise its target is one that the
    linker fills in, as it is if the block has pushed what is popped.
    """
    call = instructions[at]
    if not any(operand.kind is OperandKind.BRANCH for operand in call.operands):
        return False
    if not call.displacement:
        before = [each.mnemonic for each in instructions[:at]]
        pops = at + 1 < len(instructions) and instructions[at + 1].mnemonic == "pop"
        return pops and before.count("push") <= before.count("pop")
    return 0 <= addresses[at + 1] + call.displacement < addresses[-1]
