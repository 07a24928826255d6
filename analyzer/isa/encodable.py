"""The encodings that an instruction set has for a mnemonic: the kinds of their operands, and their bytes."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import cache

from cyclelens.analyzer.isa.codes import kind_names
from cyclelens.analyzer.isa.encoder import Decoration, Operand, codes, encode
from iced_x86 import (
    Code,
    CpuidFeature,
    EncodingKind,
    Formatter,
    FormatterSyntax,
    Instruction,
    MemorySizeInfo,
    OpCodeInfo,
)
from msgspec import Struct

_ENCODINGS = {
    EncodingKind.LEGACY: "legacy",
    EncodingKind.D3NOW: "legacy",
    EncodingKind.VEX: "vex",
    EncodingKind.XOP: "vex",
    EncodingKind.EVEX: "evex",
}
_AFTER_EVEX = frozenset(
    # Older versions of iced-x86 do not know all of these.
    getattr(CpuidFeature, name, None)
    for name in ("AVX_VNNI", "AVX_IFMA", "AVX_NE_CONVERT")
)
"""VEX forms of instructions that AVX-512 had first."""
_UNDOCUMENTED = frozenset(
    ["reservednop", "fstpnce", "undoc", "xsha512", "xsha512_alt", "xstore_alt", "rdudbg", "wrudbg", "pcommit"]
)
"""Mnemonics that no assembler has."""
_WIDTHS = {0: 0, 16: 16, 32: 32, 64: 64}
_PLACE = re.compile(r"_(?:REG|RM|VVVV|IS4|IS5|OPCODE|MEM|REG_MEM)$")
_WITH_MEMORY = re.compile(r"(\w+?)_OR_MEM(?:_MPX)?$")


class Form(Struct, frozen=True):
    """One encoding of a mnemonic."""

    code: int
    """iced-x86's number."""
    operands: tuple[str, ...]
    """Kinds in Intel's order: classes of registers (``r32``, ``xmm``, ``k``), with ``/m`` if memory may take
    the place; ``m``; ``vx``, ``vy`` and ``vz`` for memory with a vector index; ``moffs``; names of fixed
    registers; ``imm8`` ... ``imm64``, ``imm8s`` and ``imm32s`` for immediates that are extended with their
    sign; ``one``."""
    encoding: str
    """``legacy``, ``vex`` or ``evex``."""
    size: int = 0
    """Bytes of the memory operand; 0 if it has no size."""
    element: int = 0
    """Bytes of an element that can be broadcast; 0 if none can."""
    masked: bool = False
    needs_mask: bool = False
    zeroed: bool = False
    rounds: bool = False
    """The rounding can be written."""
    suppresses: bool = False
    """``{sae}`` can be written."""
    is_late: bool = False
    """A VEX form of an instruction that AVX-512 had first."""
    width: int = 0
    """Operand size in bits that the encoding says."""
    att: str = ""
    """AT&T's name, with its suffix."""
    needs_other_target: bool = False
    """The target must not be one of the sources."""
    is_suffixed: bool = False
    """3DNow!, whose opcode comes last."""
    stores: bool = False
    """GNU as's ``{store}`` chooses this form of two: its first operand may be memory, or with XOP its
    last."""
    needs_different: bool = False
    """All registers must differ."""
    accepts: frozenset[str] = frozenset()
    """The classes and names of registers among its operands, and ``number`` if it takes an immediate."""


def mnemonics() -> Collection[str]:
    """All mnemonics that have forms."""
    return [name for name in codes() if _codes(name)]


def code_of(
    form: Form, operands: Sequence[Operand], decoration: Decoration, *, long_vex: bool = False
) -> bytes | None:
    """The bytes of a form with these operands, with ``long_vex`` never with the two-byte VEX prefix; None if
    it cannot have them."""
    if form.is_suffixed:
        return _suffixed(form, operands)
    return encode(form.code, operands, decoration, long_vex=long_vex)


def _suffixed(form: Form, operands: Sequence[Operand]) -> bytes | None:
    """The bytes of a 3DNow! instruction: those of PADDB with another opcode and the own one behind, because
    iced-x86 leaves the REX prefix out."""
    code = encode(Code.PADDB_MM_MMM64, operands, Decoration())
    return code and code.replace(b"\x0f\xfc", b"\x0f\x0f", 1) + bytes([OpCodeInfo(form.code).op_code])  # type: ignore[arg-type]


def _codes(mnemonic: str) -> tuple[int, ...]:
    """iced-x86's codes of a mnemonic that assemblers have."""
    if mnemonic in _UNDOCUMENTED or mnemonic.startswith("ccs_"):
        return ()
    every = codes().get(mnemonic, ())
    return tuple(code for code in every if OpCodeInfo(code).encoding in _ENCODINGS)  # type: ignore[arg-type]


@cache
def _formatter() -> Formatter:
    formatter = Formatter(FormatterSyntax.GAS)
    formatter.gas_show_mnemonic_size_suffix = True
    return formatter


@cache
def _kind(kind: int) -> str:
    name = kind_names()[kind]
    if name.startswith("IMM"):
        return {
            "IMM8_CONST_1": "one",
            "IMM8SEX16": "imm8s",
            "IMM8SEX32": "imm8s",
            "IMM8SEX64": "imm8s",
            "IMM32SEX64": "imm32s",
        }.get(name, name.lower())
    if name.startswith("MEM_VSIB"):
        return f"v{name[-1].lower()}"
    if match := _WITH_MEMORY.match(name):
        return f"{match[1].lower()}/m"
    if name == "MEM_OFFS":
        return "moffs"
    if name in ("MEM", "MEM_MPX", "MEM_MIB", "SIBMEM"):
        return "m"
    return {"KP1_REG": "kp1", "XMMP3_VVVV": "xmm", "ZMMP3_VVVV": "zmm", "STI_OPCODE": "sti"}.get(
        name, _PLACE.sub("", name).lower()
    )


def _stores(about: OpCodeInfo) -> bool:
    kind = about.op2_kind if about.encoding == EncodingKind.XOP else about.op0_kind
    return kind_names()[kind].endswith(("_RM", "_OR_MEM"))


def _accepts(kinds: Sequence[str]) -> frozenset[str]:
    numbers = {"number" for kind in kinds if kind.startswith("imm") or kind == "one"}
    return frozenset(kind.removesuffix("/m") for kind in kinds) | numbers


@cache
def forms(mnemonic: str) -> tuple[Form, ...]:
    """The forms of a mnemonic (lower case, Intel's name) in 64-bit mode, without direct jumps, in the order
    of their opcodes."""
    made = []
    for code in _codes(mnemonic):
        about = OpCodeInfo(code)  # type: ignore[arg-type]
        kinds = tuple(_kind(about.op_kind(position)) for position in range(about.op_count))
        if any(kind.startswith(("br", "far", "xbegin")) for kind in kinds):
            continue
        instruction = Instruction()
        instruction.code = code  # type: ignore[assignment]
        if CpuidFeature.KNC in instruction.cpuid_features():
            continue
        late = about.encoding == EncodingKind.VEX and not _AFTER_EVEX.isdisjoint(instruction.cpuid_features())
        element = MemorySizeInfo(about.broadcast_memory_size).element_size if about.can_broadcast else 0
        made.append(
            Form(
                code,
                kinds,
                _ENCODINGS[about.encoding],
                MemorySizeInfo(about.memory_size).size,
                element,
                about.can_use_op_mask_register,
                about.require_op_mask_register,
                about.can_use_zeroing_masking,
                about.can_use_rounding_control and not about.ignores_rounding_control,
                about.can_suppress_all_exceptions,
                late,
                _WIDTHS[about.operand_size],
                _formatter().format_mnemonic(instruction),
                about.requires_unique_dest_reg_num,
                about.encoding == EncodingKind.D3NOW,
                _stores(about),
                about.requires_unique_reg_nums and "tmm" in kinds,
                _accepts(kinds),
            )
        )
    return tuple(made)
