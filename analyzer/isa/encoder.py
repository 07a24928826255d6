"""Encodes operands to bytes with iced-x86, for instructions without a text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache

from cyclelens.analyzer.isa.codes import enum_names
from iced_x86 import (
    Code,
    Encoder,
    Instruction,
    Mnemonic,
    OpCodeInfo,
    OpCodeOperandKind,
    OpKind,
    Register,
    RoundingControl,
)
from msgspec import Struct


class EncoderMemory(Struct, frozen=True):
    """A memory operand. The encoding determines how many bytes are accessed."""

    base: str = ""
    """Register name, or "RIP" for a displacement relative to the instruction's end."""
    index: str = ""
    scale: int = 1
    displacement: int = 0
    displacement_bytes: int = 0
    """1 or 4; 0 for the shortest that fits."""


class RelativeTarget(Struct, frozen=True):
    """A jump's target, in bytes from the jump's end."""

    distance: int = 0


class Decoration(Struct, frozen=True):
    """Attributes of an instruction beside its operands: masking, broadcast, rounding, lock."""

    mask: str = ""
    """Mask register."""
    zeroing: bool = False
    broadcast: bool = False
    suppress_exceptions: bool = False
    lock: bool = False
    rounding: str = ""
    """``rn``, ``rd``, ``ru`` or ``rz``."""


PLAIN = Decoration()
_ROUNDINGS = {
    "rn": RoundingControl.ROUND_TO_NEAREST,
    "rd": RoundingControl.ROUND_DOWN,
    "ru": RoundingControl.ROUND_UP,
    "rz": RoundingControl.ROUND_TOWARD_ZERO,
}
Operand = str | int | EncoderMemory | RelativeTarget
"""A register's name in Intel's spelling, an immediate's value, a memory operand or a jump's target."""

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
    OpCodeOperandKind.IMM4_M2Z: OpKind.IMMEDIATE8,
}

_MEMORY = frozenset(value for value, name in enum_names(OpCodeOperandKind).items() if "MEM" in name)

_UNNAMED_MEMORY = {
    OpCodeOperandKind.ES_RDI: OpKind.MEMORY_ESRDI,
    OpCodeOperandKind.SEG_RSI: OpKind.MEMORY_SEG_RSI,
    OpCodeOperandKind.SEG_RDI: OpKind.MEMORY_SEG_RDI,
    OpCodeOperandKind.SEG_RBX_AL: OpKind.MEMORY,
}
"""Memory operands that string instructions and a few others access implicitly."""
_UNNAMED_REGISTERS = {
    OpCodeOperandKind.AL: Register.AL,
    OpCodeOperandKind.AX: Register.AX,
    OpCodeOperandKind.EAX: Register.EAX,
    OpCodeOperandKind.RAX: Register.RAX,
    OpCodeOperandKind.DX: Register.DX,
}
"""Implicit registers of string instructions."""
_JUMPS = (OpCodeOperandKind.BR64_1, OpCodeOperandKind.BR64_4)


def encodings(mnemonic: str, operands: Sequence[Operand], decoration: Decoration = PLAIN) -> Iterator[bytes]:
    """Every encoding of a mnemonic (lower case) with these operands in 64-bit mode."""
    for code in codes().get(mnemonic, ()):
        encoded = encode(code, operands, decoration)
        if encoded is not None:
            yield encoded


@cache
def codes() -> dict[str, tuple[int, ...]]:
    """iced-x86 codes of 64-bit mode by mnemonic (lower case)."""
    names = enum_names(Mnemonic)
    found = defaultdict(list)
    for code in enum_names(Code):
        about = OpCodeInfo(code)  # type: ignore[arg-type]
        if about.is_instruction and about.mode64:
            found[names[about.mnemonic].lower()].append(code)
    return {name: tuple(codes) for name, codes in found.items()}


@cache
def _registers() -> dict[str, int]:
    known = {name: value for value, name in enum_names(Register).items()}
    # iced-x86 calls the low bytes of R8 to R15 R8L; Intel calls them R8B.
    return known | {f"R{number}B": known[f"R{number}L"] for number in range(8, 16)}


def encode(
    code: int, operands: Sequence[Operand], decoration: Decoration = PLAIN, *, long_vex: bool = False
) -> bytes | None:
    """The encoding of an iced-x86 code with these operands; None if it does not accept them. ``long_vex``:
    never with the two-byte VEX prefix."""
    about = OpCodeInfo(code)  # type: ignore[arg-type]
    if not _decorated(about, decoration):
        return None
    instruction = Instruction()
    instruction.code = code  # type: ignore[assignment]
    given = iter(operands)
    kinds = [about.op_kind(position) for position in range(about.op_count)]
    unnamed = not operands and not _UNNAMED_MEMORY.keys().isdisjoint(kinds)
    for position, kind in enumerate(kinds):
        if kind in _UNNAMED_MEMORY:
            instruction.set_op_kind(position, _UNNAMED_MEMORY[kind])
            if kind == OpCodeOperandKind.SEG_RBX_AL:
                instruction.memory_base, instruction.memory_index = Register.RBX, Register.AL
        elif unnamed and kind in _UNNAMED_REGISTERS:
            instruction.set_op_kind(position, OpKind.REGISTER)
            instruction.set_op_register(position, _UNNAMED_REGISTERS[kind])
        elif not _set(instruction, position, kind, next(given, None)):
            return None
    if next(given, None) is not None:
        return None
    instruction.op_mask = _registers().get(decoration.mask, Register.NONE)  # type: ignore[assignment]
    instruction.zeroing_masking = decoration.zeroing
    instruction.is_broadcast = decoration.broadcast
    if decoration.rounding:
        instruction.rounding_control = _ROUNDINGS[decoration.rounding]
    elif decoration.suppress_exceptions and about.can_use_rounding_control:
        instruction.rounding_control = RoundingControl.ROUND_TO_NEAREST
    elif decoration.suppress_exceptions:
        instruction.suppress_all_exceptions = True
    instruction.has_lock_prefix = decoration.lock
    encoded = _bytes(instruction, long_vex)
    # RIP-relative values count from the instruction's end. Its length does not depend on them.
    for operand in operands:
        if encoded is not None and isinstance(operand, RelativeTarget):
            instruction.near_branch64 = len(encoded) + operand.distance
            return _bytes(instruction, long_vex)
        if encoded is not None and isinstance(operand, EncoderMemory) and operand.base in ("RIP", "EIP"):
            mask = (1 << (64 if operand.base == "RIP" else 32)) - 1
            instruction.memory_displacement = (len(encoded) + operand.displacement) & mask
            return _bytes(instruction, long_vex)
    return encoded


def _set(instruction: Instruction, position: int, kind: int, operand: Operand | None) -> bool:
    """Set one operand. False if an operand of this kind does not accept it."""
    if isinstance(operand, int):
        if kind not in _IMMEDIATES:
            return False
        second = position > 0 and instruction.op_kind(position - 1) in (OpKind.IMMEDIATE8, OpKind.IMMEDIATE16)
        plain = _IMMEDIATES[kind]  # type: ignore[index]
        instruction.set_op_kind(position, OpKind.IMMEDIATE8_2ND if second else plain)
        if second:
            instruction.immediate8_2nd = operand
        else:
            instruction.set_immediate_i64(position, operand)
    elif isinstance(operand, EncoderMemory):
        if kind not in _MEMORY:
            return False
        instruction.set_op_kind(position, OpKind.MEMORY)
        instruction.memory_base = _registers().get(operand.base, Register.NONE)  # type: ignore[assignment]
        instruction.memory_index = _registers().get(operand.index, Register.NONE)  # type: ignore[assignment]
        instruction.memory_index_scale = operand.scale
        instruction.memory_displacement = operand.displacement % (1 << 64)
        instruction.memory_displ_size = _displacement_size(operand)
    elif isinstance(operand, RelativeTarget):
        if kind not in _JUMPS:
            return False
        instruction.set_op_kind(position, OpKind.NEAR_BRANCH64)
    else:
        register = _registers().get(operand or "")
        if register is None or kind in _IMMEDIATES:
            return False
        instruction.set_op_kind(position, OpKind.REGISTER)
        instruction.set_op_register(position, register)  # type: ignore[arg-type]
    return True


def _bytes(instruction: Instruction, long_vex: bool) -> bytes | None:
    encoder = Encoder(64)
    encoder.prevent_vex2 = long_vex
    try:
        encoder.encode(instruction, 0)
    except ValueError:
        return None
    return encoder.take_buffer()


def _decorated(about: OpCodeInfo, decoration: Decoration) -> bool:
    """Whether the code supports this decoration."""
    return (
        (not decoration.mask or about.can_use_op_mask_register)
        and (not decoration.lock or about.can_use_lock_prefix)
        and (not decoration.zeroing or about.can_use_zeroing_masking)
        and (not decoration.broadcast or about.can_broadcast)
        and (
            not decoration.suppress_exceptions
            or about.can_suppress_all_exceptions
            or about.can_use_rounding_control
        )
    )


def _displacement_size(memory: EncoderMemory) -> int:
    """Displacement size in iced-x86's convention: 8 for the four bytes of a 64-bit address."""
    is_narrow = (memory.base or memory.index).startswith("E") or (memory.base or memory.index).endswith("D")
    if memory.displacement_bytes == 4 or (memory.displacement and not memory.base):
        return 4 if is_narrow else 8
    if memory.displacement_bytes:
        return memory.displacement_bytes
    if not memory.displacement:
        return 0
    # The encoder takes one byte if the value, or with EVEX its quotient, fits, and otherwise four.
    return 1
