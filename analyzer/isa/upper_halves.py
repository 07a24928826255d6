"""Effects of an instruction on the upper halves of vector registers."""

from __future__ import annotations

from cyclelens.analyzer.isa.decoder import OPTIONS
from cyclelens.analyzer.isa.register_use import INFO, WRITES
from cyclelens.analyzer.model.upper_halves import UpperHalves
from iced_x86 import (
    Decoder,
    EncodingKind,
    MemorySizeExt,
    Mnemonic,
    OpAccess,
    OpKind,
    RegisterExt,
)

_LEGACY_REGISTERS = 16
"""Registers of each width that legacy SSE can name; only these count here."""
_WIDE = 32
"""Bytes of a vector that has an upper half."""
_CLEAR_ALL = frozenset({Mnemonic.VZEROUPPER, Mnemonic.VZEROALL})
_LEAVE_UNKNOWN = frozenset(
    {
        *(Mnemonic.XRSTOR, Mnemonic.XRSTOR64, Mnemonic.XRSTORS, Mnemonic.XRSTORS64),
        *(Mnemonic.FXRSTOR, Mnemonic.FXRSTOR64, Mnemonic.CALL),
    }
)
_READ_LOWER_HALF = frozenset(
    {
        *(Mnemonic.VMOVD, Mnemonic.VMOVQ, Mnemonic.VMOVMSKPS, Mnemonic.VMOVMSKPD, Mnemonic.VPMOVMSKB),
        *(Mnemonic.VUCOMISS, Mnemonic.VUCOMISD, Mnemonic.VCOMISS, Mnemonic.VCOMISD),
    }
)
"""128-bit instructions from a vector register to a general-purpose register or the flags, in a single uop."""


def upper_halves(code: bytes) -> UpperHalves:
    """Effect of one instruction. Measured on an Emerald Rapids (docs/pipeline.md, UH1)."""
    instruction = Decoder(64, code, OPTIONS).decode()
    if instruction.mnemonic in _CLEAR_ALL:
        return UpperHalves.CLEARS
    if instruction.mnemonic in _LEAVE_UNKNOWN:
        return UpperHalves.LEAVES_UNKNOWN
    info = INFO.info(instruction)
    if instruction.encoding in (EncodingKind.LEGACY, EncodingKind.D3NOW):
        written = any(
            item.access in WRITES and RegisterExt.is_xmm(item.register) for item in info.used_registers()
        )
        return UpperHalves.KEEPS if written else UpperHalves.NOTHING
    positions = range(instruction.op_count)
    vectors = [
        (instruction.op_register(k), info.op_access(k))
        for k in positions
        if instruction.op_kind(k) == OpKind.REGISTER
        and RegisterExt.is_vector_register(instruction.op_register(k))
    ]
    wide = any(RegisterExt.size(register) >= _WIDE for register, _ in vectors) or (
        MemorySizeExt.size(instruction.memory_size) >= _WIDE
    )
    low = [(register, access) for register, access in vectors if _is_low(register)]
    if wide and any(access in WRITES for _, access in low):
        return UpperHalves.WRITES
    if not low and not _is_low(instruction.memory_index):
        return UpperHalves.NOTHING
    if (
        not wide
        and instruction.mnemonic in _READ_LOWER_HALF
        and instruction.op_kind(0) == OpKind.REGISTER
        and not any(access in WRITES for _, access in vectors)
    ):
        return UpperHalves.NOTHING
    return UpperHalves.READS if wide else UpperHalves.USES


def used_halves(code: bytes) -> tuple[frozenset[str], frozenset[str]]:
    """Vector registers (``XMM0``) whose upper halves an instruction reads, and those whose upper halves it
    overwrites (zeroing included). Legacy SSE does neither."""
    instruction = Decoder(64, code, OPTIONS).decode()
    read, overwritten = set[str](), set[str]()
    if instruction.mnemonic in _CLEAR_ALL:
        return frozenset(), frozenset([f"XMM{number}" for number in range(_LEGACY_REGISTERS)])
    if instruction.encoding in (EncodingKind.LEGACY, EncodingKind.D3NOW):
        return frozenset(), frozenset()
    info = INFO.info(instruction)
    for k in range(instruction.op_count):
        register, access = instruction.op_register(k), info.op_access(k)
        if instruction.op_kind(k) != OpKind.REGISTER or not RegisterExt.is_vector_register(register):
            continue
        name = f"XMM{RegisterExt.number(register)}"
        if access != OpAccess.WRITE and RegisterExt.size(register) >= _WIDE:
            read.add(name)
        if access in (OpAccess.WRITE, OpAccess.READ_WRITE):
            overwritten.add(name)
    if RegisterExt.is_vector_register(instruction.memory_index):
        read.add(f"XMM{RegisterExt.number(instruction.memory_index)}")
    return frozenset(read), frozenset(overwritten)


def _is_low(register: int) -> bool:
    return (
        RegisterExt.is_vector_register(register)  # type: ignore[arg-type]
        and RegisterExt.number(register) < _LEGACY_REGISTERS  # type: ignore[arg-type]
    )
