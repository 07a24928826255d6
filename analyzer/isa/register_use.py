"""Finds the registers that instructions use, and replaces one by another."""

from __future__ import annotations

from cyclelens.analyzer.isa.decoder import OPTIONS, REGISTERS
from iced_x86 import Decoder, Encoder, InstructionInfoFactory, OpAccess, OpKind, Register, RegisterExt

INFO = InstructionInfoFactory()
WRITES = frozenset({OpAccess.WRITE, OpAccess.COND_WRITE, OpAccess.READ_WRITE, OpAccess.READ_COND_WRITE})
GENERAL_PURPOSE = ("RAX", "RCX", "RDX", "RBX", "RSP", "RBP", "RSI", "RDI", *(f"R{n}" for n in range(8, 16)))
"""In the order of their register numbers."""
FULL_NAMES = {
    register: name
    for register in REGISTERS
    if RegisterExt.is_gpr(register)  # type: ignore[arg-type]
    and (name := REGISTERS[RegisterExt.full_register(register)])  # type: ignore[arg-type]
}
"""64-bit names of general-purpose registers in any width, by iced-x86 number."""
_BITS = {register: 1 << GENERAL_PURPOSE.index(name) for register, name in FULL_NAMES.items()}


def used_bits(code: bytes) -> int:
    """Bit set of ``used_registers``: bit n stands for ``GENERAL_PURPOSE[n]``."""
    used = 0
    for instruction in Decoder(64, code, OPTIONS):
        for item in INFO.info(instruction).used_registers():
            used |= _BITS.get(item.register, 0)
        # iced-x86 does not report addresses that are not accessed (multi-byte NOPs) as used.
        used |= _BITS.get(instruction.memory_base, 0) | _BITS.get(instruction.memory_index, 0)
    return used


def used_registers(code: bytes) -> frozenset[str]:
    """General-purpose registers, by 64-bit name, that the instructions read, write or use in addresses, in
    any width. Implicit uses count (RSP of PUSH, RAX of MUL). Invalid bytes use none."""
    used = used_bits(code)
    return frozenset([name for number, name in enumerate(GENERAL_PURPOSE) if used >> number & 1])


def address_registers(code: bytes) -> frozenset[str]:
    """General-purpose registers, by 64-bit name, in the visible address of one instruction."""
    instruction = Decoder(64, code, OPTIONS).decode()
    found = (FULL_NAMES.get(each) for each in (instruction.memory_base, instruction.memory_index))
    return frozenset(name for name in found if name)


def with_register(code: bytes, old: str, new: str) -> bytes:
    """Replace a register among an instruction's visible operands by another one of the same width. ``old``
    and ``new`` are canonical names (``RAX``, ``XMM0``). Addresses and implicit operands stay.

    Raises ValueError if the result cannot be encoded.
    """
    instruction = Decoder(64, code, OPTIONS).decode()
    place: int = RegisterExt.full_register(getattr(Register, old))
    number: int = RegisterExt.number(getattr(Register, new))
    for position in range(instruction.op_count):
        if instruction.op_kind(position) != OpKind.REGISTER:
            continue
        register = instruction.op_register(position)
        if RegisterExt.full_register(register) == place:
            if RegisterExt.is_gpr8(register):
                raise ValueError("8-bit registers are not numbered like their full registers")
            instruction.set_op_register(position, RegisterExt.base(register) + number)  # type: ignore[arg-type]
    encoder = Encoder(64)
    encoder.encode(instruction, 0)
    return encoder.take_buffer()


def is_privileged(code: bytes) -> bool:
    """Whether any of the instructions needs kernel or hypervisor privileges."""
    return any(instruction.is_privileged for instruction in Decoder(64, code, OPTIONS))
