"""Registers and flags that instructions read and write. Predictions do not need them."""

from __future__ import annotations

from cyclelens.analyzer.isa.decoder import OPTIONS, REGISTERS
from cyclelens.analyzer.isa.register_use import FULL_NAMES, INFO, WRITES
from iced_x86 import Decoder, Mnemonic, OpAccess, RegisterExt, RflagsBits
from msgspec import Struct


def written_registers(code: bytes) -> frozenset[str]:
    """General-purpose registers that the instructions write in any width, by their 64-bit names."""
    written = {
        item.register
        for instruction in Decoder(64, code, OPTIONS)
        for item in INFO.info(instruction).used_registers()
        if item.access in WRITES
    }
    return frozenset([name for register in written if (name := FULL_NAMES.get(register))])


class Effects(Struct, frozen=True):
    """Registers by canonical name (``RAX``, ``XMM0``, ``K1``) and flags (``C P A Z S O``) that an instruction
    reads and writes."""

    read: frozenset[str]
    overwritten: frozenset[str]
    """Completely overwritten: not RAX by a write to AX, and not a vector register whose upper part is kept.
    """
    written: frozenset[str]


_FLAGS = {name: getattr(RflagsBits, f"{name}F") for name in ("C", "P", "A", "Z", "S", "O")}


def effects(code: bytes, vector_bits: int = 128) -> Effects:
    """Effects of one instruction. A write of at least ``vector_bits`` bits overwrites a vector register."""
    instruction = Decoder(64, code, OPTIONS).decode()
    read, overwritten, written = set[str](), set[str](), set[str]()
    # iced-x86 reports that VZEROUPPER reads the lower halves, which it merely keeps.
    for item in (
        () if instruction.mnemonic == Mnemonic.VZEROUPPER else INFO.info(instruction).used_registers()
    ):
        name = _canonical(item.register)
        if name is None or item.access in (OpAccess.NONE, OpAccess.NO_MEM_ACCESS):
            continue
        if item.access in WRITES:
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
    return FULL_NAMES.get(register)
