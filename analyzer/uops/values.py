"""The effect of an instruction on the values that addresses are made of: the published rules
(``symbol_rule``), and the finer ones of the hardware model, which treat every result except a simple sum as
unknown. And the size of an access."""

from __future__ import annotations

from collections.abc import Iterable

from cyclelens.analyzer.model.instruction import Instruction, OperandKind
from cyclelens.analyzer.model.uops import InstructionTemplate, MemoryAccess
from msgspec import Struct

UNKNOWN_VALUE, SUM, LOADED = 0, 1, 2
"""Kinds of results: unknown; base + index * scale + delta; an unchanged word of memory."""

_LARGEST = 1 << 40
"""Constants from this one on are treated as unknown, so that symbolic values never collide."""
_LOADED_BITS = 32
"""Narrower loads do not yield a whole word of memory."""


class ValueRule(Struct, frozen=True):
    """Composition of the only register result of an instruction; registers by name, None for none."""

    kind: int = UNKNOWN_VALUE
    base: str | None = None
    index: str | None = None
    scale: int = 1
    delta: int = 0


_UNKNOWN = ValueRule()


def value_rule(template: InstructionTemplate, instruction: Instruction) -> ValueRule:
    """The rule for the register result of an instruction with this template, or a sibling's."""
    if template.facts is None or len(template.register_outputs) != 1:
        return _UNKNOWN
    name = instruction.mnemonic
    if template.uop_count == 0 and not template.register_inputs:
        return ValueRule(SUM)  # a zero idiom
    loads = [access for access in template.memory_operands if access.read]
    if loads:
        size = template.register_outputs[0].width
        whole = name in ("mov", "movsxd", "movabs", "pop") and size >= _LOADED_BITS
        return ValueRule(LOADED) if whole else _UNKNOWN
    rule = _sum(instruction, name)
    return rule if abs(rule.delta) < _LARGEST else _UNKNOWN


def _sum(instruction: Instruction, name: str) -> ValueRule:
    immediate = instruction.immediate
    operands = instruction.operands
    first = operands[0].register if operands else None
    second = operands[1] if len(operands) > 1 else None
    if name in ("mov", "movabs", "movsxd"):
        if immediate is not None:
            return ValueRule(SUM, delta=immediate)
        return ValueRule(SUM, base=second.register if second else None)
    if name == "lea" and second is not None and second.kind == OperandKind.AGEN and second.base != "RIP":
        return ValueRule(SUM, second.base, second.index, second.scale, second.displacement)
    if name in ("inc", "dec"):
        return ValueRule(SUM, base=first, delta=1 if name == "inc" else -1)
    if name in ("add", "sub") and immediate is not None:
        return ValueRule(SUM, base=first, delta=immediate if name == "add" else -immediate)
    if name == "add" and second is not None and second.register is not None:
        return ValueRule(SUM, first, second.register)
    return _UNKNOWN


def symbol_rule(template: InstructionTemplate, instruction: Instruction) -> tuple[bool, int]:
    """Whether the results continue the symbolic value of the first input, and the sign with which the
    difference is added: 1, -1 or 0 (uiCA model, 4.2)."""
    if not template.register_inputs:
        return False, 0
    name = template.name
    if "MOV" in name and "CMOV" not in name:
        return True, 0
    if ("ADD" in name and instruction.immediate is not None) or "INC" in name:
        return True, 1
    if ("SUB" in name and instruction.immediate is not None) or "DEC" in name:
        return True, -1
    return False, 0


def symbol_delta(sign: int, instruction: Instruction) -> int:
    """The difference between the results and the first input: the immediate, or 1 if there is none."""
    return sign and sign * (1 if instruction.immediate is None else instruction.immediate)


def access_bytes(template: InstructionTemplate, access: MemoryAccess) -> int:
    """Bytes that a memory operand accesses; 0 if the tables do not say."""
    operands = template.facts.operands if template.facts is not None else ()
    return next((operand.width // 8 for operand in operands if operand.name == access.name), 0)


def sizes(accessed: Iterable[tuple[InstructionTemplate, MemoryAccess]]) -> list[int]:
    """``access_bytes`` of each."""
    return [access_bytes(template, access) for template, access in accessed]
