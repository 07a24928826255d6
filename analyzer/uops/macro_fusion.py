"""Decides which pairs of instructions form one macro-op (M5, M6 of docs/zen5.md)."""

from __future__ import annotations

from cyclelens.analyzer.model.instruction import Instruction
from cyclelens.analyzer.model.macro_ops import MacroOpRules
from cyclelens.analyzer.uops.operands import Prepared
from cyclelens.analyzer.uops.registers import width

_FUSES_AFTER_MOVE = frozenset(
    ["add", "sub", "and", "or", "xor", "inc", "dec", "not", "shl", "sal", "shr", "sar", "adc", "sbb"]
)
_FUSES_WITH_BRANCH = frozenset(["cmp", "test", "add", "sub", "and", "or", "xor", "inc", "dec"])


def fuses_after_move(first: Instruction, second: Instruction, next_is_branch: bool) -> bool:
    """True if ``mov a, b`` and an ALU operation on ``a`` form one macro-op (M6).
    Neither may access memory."""
    if first.mnemonic != "mov" or second.mnemonic not in _FUSES_AFTER_MOVE or not second.operands:
        return False
    if next_is_branch and second.mnemonic in _FUSES_WITH_BRANCH:
        return False
    target = second.operands[0].register
    registers = [operand.register for operand in first.operands]
    if len(registers) != 2 or not registers[1] or first.immediate is not None:
        return False
    if target is None or target != registers[0] or target == registers[1]:
        return False
    if width(target) < 32 or width(registers[1]) != width(target) or {"RSP", "ESP"} & set(registers):
        return False
    return len(second.operands) < 2 or second.operands[1].register != target


def fuses_with_branch(first: Prepared, second: Prepared, rules: MacroOpRules) -> bool:
    """True if an ALU operation and the next conditional branch form one macro-op, at any address (M5)."""
    if first.instruction.mnemonic not in _FUSES_WITH_BRANCH or second.facts.category != "COND_BR":
        return False
    if first.memory_operands and not rules.fuses_memory_with_branch:
        return False
    # An immediate together with a RIP-relative address prevents fusion.
    relative = any(operand.base == "RIP" for operand in first.instruction.operands)
    return first.instruction.immediate is None or not relative
