"""Operands to bytes, by iced-x86's encoder: instructions of which no text exists."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache

from iced_x86 import (
    Code,
    Encoder,
    Instruction,
    Mnemonic,
    OpCodeInfo,
    OpCodeOperandKind,
    OpKind,
    Register,
)

Operand = str | int
"""A register by its name in Intel's spelling, or the value of an immediate."""

_IMMEDIATES = {
    OpCodeOperandKind.IMM8: OpKind.IMMEDIATE8,
    OpCodeOperandKind.IMM16: OpKind.IMMEDIATE16,
    OpCodeOperandKind.IMM32: OpKind.IMMEDIATE32,
    OpCodeOperandKind.IMM64: OpKind.IMMEDIATE64,
    OpCodeOperandKind.IMM8SEX16: OpKind.IMMEDIATE8TO16,
    OpCodeOperandKind.IMM8SEX32: OpKind.IMMEDIATE8TO32,
    OpCodeOperandKind.IMM8SEX64: OpKind.IMMEDIATE8TO64,
    OpCodeOperandKind.IMM32SEX64: OpKind.IMMEDIATE32TO64,
    OpCodeOperandKind.IMM8_CONST_1: OpKind.IMMEDIATE8,
}


def encodings(mnemonic: str, operands: Sequence[Operand]) -> Iterator[bytes]:
    """Every encoding of a mnemonic (lower case) with these operands in 64-bit mode."""
    for code in _codes().get(mnemonic, ()):
        encoded = _encode(code, operands)
        if encoded is not None:
            yield encoded


@cache
def _codes() -> dict[str, tuple[int, ...]]:
    """Mnemonic -> what is encoded under it."""
    names = {value: name.lower() for name, value in vars(Mnemonic).items() if isinstance(value, int)}
    found = defaultdict(list)
    for code in vars(Code).values():
        if isinstance(code, int):
            about = OpCodeInfo(code)  # type: ignore[arg-type]
            if about.is_instruction and about.mode64:
                found[names[about.mnemonic]].append(code)
    return {name: tuple(codes) for name, codes in found.items()}


@cache
def _registers() -> dict[str, int]:
    known = {name: value for name, value in vars(Register).items() if isinstance(value, int)}
    # The decoder's library calls the low bytes of the new registers R8L; Intel calls them R8B.
    return known | {f"R{number}B": known[f"R{number}L"] for number in range(8, 16)}


def _encode(code: int, operands: Sequence[Operand]) -> bytes | None:
    about = OpCodeInfo(code)  # type: ignore[arg-type]
    if about.op_count != len(operands):
        return None
    instruction = Instruction()
    instruction.code = code  # type: ignore[assignment]
    for position, operand in enumerate(operands):
        kind = about.op_kind(position)
        if isinstance(operand, int):
            if kind not in _IMMEDIATES:
                return None
            instruction.set_op_kind(position, _IMMEDIATES[kind])
            instruction.set_immediate_i64(position, operand)
        else:
            register = _registers().get(operand)
            if register is None or kind in _IMMEDIATES:
                return None
            instruction.set_op_kind(position, OpKind.REGISTER)
            instruction.set_op_register(position, register)  # type: ignore[arg-type]
    encoder = Encoder(64)
    try:
        encoder.encode(instruction, 0)
    except ValueError:
        return None
    return encoder.take_buffer()
