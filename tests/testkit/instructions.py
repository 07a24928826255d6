"""Instructions built by hand, for tests that need particular properties whatever the bytes mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cyclelens.analyzer.model.instruction import DecodedOperand, Encoding, Instruction, OperandKind


def made_up(
    text: str = "nop",
    *,
    code: bytes = b"\x90",
    operands: Sequence[DecodedOperand] = (),
    mask: str | None = None,
    immediate: int | None = None,
    **encoding: Any,
) -> Instruction:
    """``encoding``: fields of ``Encoding``; the mnemonic is the first word of the text. At most one operand
    has an address."""
    registers: list[str | None] = []
    address = DecodedOperand(OperandKind.MEMORY)
    for operand in operands:
        if operand.kind is OperandKind.REGISTER:
            registers.append(operand.register)
        elif operand.kind in (OperandKind.MEMORY, OperandKind.AGEN):
            registers += (operand.base, operand.index)
            address = operand
    if mask is not None:
        registers.append(mask)
    fields: dict[str, Any] = {
        "mnemonic": text.split()[0] if text else "",
        "kinds": tuple(operand.kind for operand in operands),
        "displacement_bits": address.displacement_bits,
        "masked": mask is not None,
    }
    made = Encoding(lambda _: text, **(fields | encoding))
    return Instruction(code, made, tuple(registers), immediate, address.displacement, address.scale)
