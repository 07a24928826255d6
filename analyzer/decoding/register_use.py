"""Which registers an instruction reads and writes, and the same with another one."""

from __future__ import annotations

from cyclelens.analyzer.decoding.decoder import OPTIONS, REGISTERS
from cyclelens.analyzer.model.named_tuple import NamedTuple
from iced_x86 import (
    Decoder,
    Encoder,
    InstructionInfoFactory,
    OpAccess,
    OpKind,
    Register,
    RegisterExt,
    RflagsBits,
)

_INFO = InstructionInfoFactory()
GENERAL_PURPOSE = ("RAX", "RCX", "RDX", "RBX", "RSP", "RBP", "RSI", "RDI", *(f"R{n}" for n in range(8, 16)))
"""In the order of their numbers in encodings."""
_GENERAL_PURPOSE = {
    register: name
    for register in REGISTERS
    if RegisterExt.is_gpr(register)  # type: ignore[arg-type]
    and (name := REGISTERS[RegisterExt.full_register(register)])  # type: ignore[arg-type]
}
"""The 64-bit names of general-purpose registers of any width, by number."""
_WRITES = frozenset({OpAccess.WRITE, OpAccess.COND_WRITE, OpAccess.READ_WRITE, OpAccess.READ_COND_WRITE})
_BITS = {register: 1 << GENERAL_PURPOSE.index(name) for register, name in _GENERAL_PURPOSE.items()}


def used_bits(code: bytes) -> int:
    """``used_registers`` as a set of bits: bit n stands for ``GENERAL_PURPOSE[n]``."""
    used = 0
    for instruction in Decoder(64, code, OPTIONS):
        for item in _INFO.info(instruction).used_registers():
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


def written_registers(code: bytes) -> frozenset[str]:
    """The general-purpose registers that the instructions write, in any width, by their 64-bit names."""
    written = {
        item.register
        for instruction in Decoder(64, code, OPTIONS)
        for item in _INFO.info(instruction).used_registers()
        if item.access in _WRITES
    }
    return frozenset([name for register in written if (name := _GENERAL_PURPOSE.get(register))])


class Effects(NamedTuple):
    """What an instruction does with registers, by canonical names (``RAX``, ``XMM0``, ``K1``) and by flags
    (``C P A Z S O``)."""

    read: frozenset[str]
    overwritten: frozenset[str]
    """Of which nothing stays: not AX, and of a vector register not one whose upper part is left."""
    written: frozenset[str]


_FLAGS = {name: getattr(RflagsBits, f"{name}F") for name in ("C", "P", "A", "Z", "S", "O")}


def effects(code: bytes, vector_bits: int = 128) -> Effects:
    """Of one instruction; of vector registers so many bits count."""
    # Here, because a start takes less time without these names.
    from iced_x86 import Mnemonic

    instruction = Decoder(64, code, OPTIONS).decode()
    read, overwritten, written = set[str](), set[str](), set[str]()
    # Of VZEROUPPER the decoder says that it reads what it leaves.
    for item in (
        () if instruction.mnemonic == Mnemonic.VZEROUPPER else _INFO.info(instruction).used_registers()
    ):
        name = _canonical(item.register)
        if name is None or item.access in (OpAccess.NONE, OpAccess.NO_MEM_ACCESS):
            continue
        if item.access in _WRITES:
            written.add(name)
        if item.access != OpAccess.WRITE:
            read.add(name)
        elif RegisterExt.size(item.register) * 8 >= (vector_bits if name.startswith("XMM") else 64):
            overwritten.add(name)
    for name, bit in _FLAGS.items():
        if instruction.rflags_read & bit:
            read.add(name)
        if instruction.rflags_modified & bit:
            written.add(name)
            overwritten.add(name)
    return Effects(frozenset(read), frozenset(overwritten), frozenset(written))


def _canonical(register: int) -> str | None:
    if RegisterExt.is_vector_register(register):  # type: ignore[arg-type]
        return f"XMM{RegisterExt.number(register)}"  # type: ignore[arg-type]
    if RegisterExt.is_k(register):  # type: ignore[arg-type]
        return REGISTERS[register]
    return _GENERAL_PURPOSE.get(register)
