"""Which registers an instruction uses, and the same with another one."""

from __future__ import annotations

from cyclelens.analyzer.isa.decoder import OPTIONS, REGISTERS
from iced_x86 import Decoder, Encoder, InstructionInfoFactory, OpKind, Register, RegisterExt

INFO = InstructionInfoFactory()
GENERAL_PURPOSE = ("RAX", "RCX", "RDX", "RBX", "RSP", "RBP", "RSI", "RDI", *(f"R{n}" for n in range(8, 16)))
"""In the order of their numbers in encodings."""
FULL_NAMES = {
    register: name
    for register in REGISTERS
    if RegisterExt.is_gpr(register)  # type: ignore[arg-type]
    and (name := REGISTERS[RegisterExt.full_register(register)])  # type: ignore[arg-type]
}
"""The 64-bit names of general-purpose registers of any width, by number."""
_BITS = {register: 1 << GENERAL_PURPOSE.index(name) for register, name in FULL_NAMES.items()}


def used_bits(code: bytes) -> int:
    """``used_registers`` as a set of bits: bit n stands for ``GENERAL_PURPOSE[n]``."""
    used = 0
    for instruction in Decoder(64, code, OPTIONS):
        for item in INFO.info(instruction).used_registers():
            used |= _BITS.get(item.register, 0)
        # Addresses that are not accessed (multi-byte NOPs) are no use in the decoder's eyes.
        used |= _BITS.get(instruction.memory_base, 0) | _BITS.get(instruction.memory_index, 0)
    return used


def used_registers(code: bytes) -> frozenset[str]:
    """The general-purpose registers that the instructions read, write or address with, in any width and
    whether visible or implicit (RSP of PUSH, RAX of MUL), by their 64-bit names. Bytes that are no
    instruction use none.
    """
    used = used_bits(code)
    return frozenset([name for number, name in enumerate(GENERAL_PURPOSE) if used >> number & 1])


def with_register(code: bytes, old: str, new: str) -> bytes:
    """An instruction with another register in the place of one that is among its visible operands, in the
    width that it has there. Both by canonical names (``RAX``, ``XMM0``); addresses and implicit ones stay.

    Raises ValueError if that cannot be encoded.
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
                raise ValueError("the parts of registers are not numbered alike")
            instruction.set_op_register(position, RegisterExt.base(register) + number)  # type: ignore[arg-type]
    encoder = Encoder(64)
    encoder.encode(instruction, 0)
    return encoder.take_buffer()


def is_privileged(code: bytes) -> bool:
    """Whether any of the instructions is for the kernel or a hypervisor alone."""
    return any(instruction.is_privileged for instruction in Decoder(64, code, OPTIONS))
