"""What instructions do to the stack pointer."""

from __future__ import annotations

from enum import Enum

from cyclelens.analyzer.isa.decoder import OPTIONS, signed
from cyclelens.analyzer.isa.register_use import INFO
from iced_x86 import Decoder, Instruction, Mnemonic, OpAccess, OpKind, Register
from msgspec import Struct


class StackRule(Enum):
    """How the new stack pointer follows from the registers before the instruction."""

    ADDED = 0
    """RSP plus a constant."""
    FROM_FRAME = 1
    """RBP plus a constant."""
    UNKNOWN = 2


class StackChange(Struct, frozen=True):
    """The stack pointer behind an instruction."""

    rule: StackRule
    bytes: int = 0
    """The constant."""
    stored: int | None = None
    """Where a MOV stores, in bytes above RSP; None if it stores elsewhere or nothing."""


_NUMBERS = (OpKind.IMMEDIATE8TO64, OpKind.IMMEDIATE32TO64)
_UNCHANGED = StackChange(StackRule.ADDED)


def stack_change(code: bytes) -> StackChange:
    """What one instruction does to RSP. A call counts as one that has returned."""
    instruction = Decoder(64, code, OPTIONS).decode()
    mnemonic = instruction.mnemonic
    if mnemonic in (Mnemonic.CALL, Mnemonic.RET, Mnemonic.SYSCALL):
        return _UNCHANGED
    if mnemonic == Mnemonic.LEAVE:
        return StackChange(StackRule.FROM_FRAME, 8)
    if instruction.is_stack_instruction and not _writes_stack_pointer(instruction):
        return StackChange(StackRule.ADDED, instruction.stack_pointer_increment)
    if not _writes(instruction):
        return StackChange(StackRule.ADDED, stored=_stored(instruction))
    is_register = instruction.op0_kind == OpKind.REGISTER and instruction.op0_register == Register.RSP
    if is_register and mnemonic in (Mnemonic.ADD, Mnemonic.SUB) and instruction.op1_kind in _NUMBERS:
        sign = 1 if mnemonic == Mnemonic.ADD else -1
        return StackChange(StackRule.ADDED, sign * signed(instruction.immediate(1)))
    if is_register and mnemonic == Mnemonic.MOV and instruction.op1_register == Register.RBP:
        return StackChange(StackRule.FROM_FRAME)
    if is_register and mnemonic == Mnemonic.LEA and instruction.memory_index == Register.NONE:
        base, distance = instruction.memory_base, signed(instruction.memory_displacement)
        if base == Register.RSP:
            return StackChange(StackRule.ADDED, distance)
        if base == Register.RBP:
            return StackChange(StackRule.FROM_FRAME, distance)
    return StackChange(StackRule.UNKNOWN)


def sets_frame(code: bytes) -> bool:
    """Whether the instruction copies RSP to RBP."""
    instruction = Decoder(64, code, OPTIONS).decode()
    return (
        instruction.mnemonic == Mnemonic.MOV
        and instruction.op0_register == Register.RBP
        and instruction.op1_kind == OpKind.REGISTER
        and instruction.op1_register == Register.RSP
    )


def _writes_stack_pointer(instruction: Instruction) -> bool:
    """Whether it is a POP of RSP, or an ENTER, whose effect depends on more than its opcode."""
    return instruction.mnemonic == Mnemonic.ENTER or (
        instruction.mnemonic == Mnemonic.POP and instruction.op0_register in (Register.RSP, Register.SP)
    )


def _writes(instruction: Instruction) -> bool:
    reads = (OpAccess.READ, OpAccess.COND_READ, OpAccess.NONE, OpAccess.NO_MEM_ACCESS)
    return any(
        item.register in (Register.RSP, Register.ESP, Register.SP, Register.SPL) and item.access not in reads
        for item in INFO.info(instruction).used_registers()
    )


def _stored(instruction: Instruction) -> int | None:
    is_store = instruction.mnemonic == Mnemonic.MOV and instruction.op0_kind == OpKind.MEMORY
    if not is_store or (instruction.memory_base, instruction.memory_index) != (Register.RSP, Register.NONE):
        return None
    return signed(instruction.memory_displacement)
