"""Choices that NASM and GNU as make between several valid encodings."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cyclelens.analyzer.frontend.statements import registers
from cyclelens.analyzer.frontend.statements.operand_types import (
    Immediate,
    MemoryOperand,
    Operand,
    OperandError,
    Register,
    UnsupportedError,
)
from msgspec.structs import replace

_NASM_ALONE = frozenset([
    "invpcid", "enqcmd", "enqcmds", "ptwrite", "fsetpm", "extractps", "movmskps", "movmskpd",
    "vmrun", "vmload", "vmsave", "skinit",
])  # fmt: skip
"""Instructions whose prefixes or operands are others in NASM 2.16 than in GNU as."""
_MULTIPLY_ADD = r"vfn?m(add|sub|addsub|subadd)[ps][sd]"
"""AMD's, with four operands."""
ACCUMULATORS = frozenset(["rax", "eax", "ax"])

_VEX2, _VEX3 = 0xC5, 0xC4
_STORING = {0x11: 0x10, 0x29: 0x28, 0x7F: 0x6F}
"""Opcodes of vector moves that store -> opcodes of the same moves that load."""


def check_for_nasm(
    mnemonic: str, prefixes: Sequence[str], operands: Sequence[Operand], *, is_narrow: bool
) -> None:
    """Raise UnsupportedError for a statement whose bytes in NASM are not known here, and OperandError for one
    that NASM refuses. ``is_narrow``: it names EAX as the address that it implies."""
    if mnemonic in _NASM_ALONE or re.fullmatch(_MULTIPLY_ADD, mnemonic) or is_narrow:
        raise UnsupportedError(f"Only NASM knows its encoding of '{mnemonic}'.")
    if not {"bnd", "notrack"}.isdisjoint(prefixes):
        raise UnsupportedError(f"Only NASM knows whether it writes '{prefixes[-1]}' before '{mnemonic}'.")
    if any(isinstance(operand, MemoryOperand) and operand.is_far for operand in operands):
        raise UnsupportedError("Only NASM knows how it truncates an address that does not fit.")
    if len(operands) != 1:
        return
    (operand,) = operands
    if mnemonic in ("push", "pop") and isinstance(operand, MemoryOperand) and operand.size is None:
        raise OperandError(f"The size of '{mnemonic}' is unknown: write 'qword' before the address.")
    if mnemonic in ("call", "jmp") and (
        registers.width(operand.name) == 16
        if isinstance(operand, Register)
        else isinstance(operand, MemoryOperand) and operand.size == "word"
    ):
        raise OperandError(f"NASM has no 16-bit '{mnemonic}' in 64-bit code.")


def is_wide_address(operands: Sequence[Operand]) -> bool:
    """Whether NASM writes 64 bits: an address goes to a 64-bit register."""
    if len(operands) != 2:
        return False
    target, source = operands
    is_wide = isinstance(target, Register) and registers.width(target.name) == 64
    return is_wide and isinstance(source, Immediate) and source.is_address


def as_nasm_chooses(mnemonic: str, operands: Sequence[Operand]) -> list[Operand]:
    """Rewrite operands so that GNU as's choice is NASM's encoding of the original ones. Raises
    UnsupportedError."""
    if any(_is_narrow(operand) for operand in operands):
        raise UnsupportedError("Only NASM knows its order of prefixes for a 32-bit address.")
    if mnemonic != "mov" and any(
        isinstance(operand, Immediate) and not -(1 << 31) <= operand.value < 1 << 32 for operand in operands
    ):
        raise UnsupportedError("Only NASM knows how it truncates a number that does not fit.")
    chosen = [
        _without_scale(operand) if isinstance(operand, MemoryOperand) and operand.base is None else operand
        for operand in operands
    ]
    if len(chosen) != 2:
        return chosen
    target, source = chosen
    if mnemonic == "mov" and isinstance(source, Immediate) and not source.is_address:
        # Writing a 32-bit register clears the upper half.
        return [narrowed(target), source] if 0 <= source.value < 1 << 32 else chosen
    if mnemonic == "xchg" and isinstance(target, Register) and isinstance(source, Register):
        return chosen if {target.name, source.name} & ACCUMULATORS else [source, target]
    return chosen


def _is_narrow(operand: Operand) -> bool:
    """Whether the operand is a 32-bit address."""
    if not isinstance(operand, MemoryOperand):
        return False
    return 32 in (registers.width(operand.base or ""), registers.width(operand.index or ""))


def _without_scale(memory: MemoryOperand) -> MemoryOperand:
    """``[rax*2]`` as ``[rax+rax]``, and ``[rax*1]`` as ``[rax]``."""
    if memory.index is None or memory.index in registers.VECTOR_INDEXES or memory.scale > 2:
        return memory
    index = memory.index if memory.scale == 2 else None
    return replace(memory, base=memory.index, index=index, scale=1)


def shortest(mnemonic: str, operands: Sequence[Operand]) -> bytes:
    """GNU as's shorter encoding of an instruction that has one; empty for all others."""
    if mnemonic == "int" and operands == [Immediate(3)]:
        return b"\xcc"
    if mnemonic in ("xchg", "xchgq", "xchgw") and len(operands) == 2 and operands[0] == operands[1]:
        name = operands[0].name if isinstance(operands[0], Register) else ""
        return {"rax": b"\x90", "ax": b"\x66\x90"}.get(name, b"")
    return b""


def narrowed(operand: Operand) -> Operand:
    """The 32-bit part of a 64-bit register; other operands are unchanged."""
    if not isinstance(operand, Register) or registers.width(operand.name) != 64:
        return operand
    return Register(f"{operand.name}d" if operand.name[1].isdigit() else f"e{operand.name[1:]}")


def loading(code: bytes) -> bytes:
    """A move between vector registers in its load form, which NASM always takes; other code is unchanged."""
    if len(code) != 4 or code[0] != _VEX2 or code[1] & 0x80 or code[3] < 0xC0 or code[2] not in _STORING:
        return code
    target, source = code[3] & 7, code[3] >> 3 & 7
    registers_byte = bytes([0xC0 | target << 3 | source])
    return bytes([_VEX3, 0xC1, code[1] & 0x7F, _STORING[code[2]]]) + registers_byte
