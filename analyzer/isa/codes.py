"""Facts about an iced-x86 code: what all instructions with the same code share."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from cyclelens.analyzer.isa import spelling
from cyclelens.analyzer.isa.forms import forms_of
from iced_x86 import (
    CpuidFeature,
    EncodingKind,
    Instruction,
    OpCodeInfo,
    OpCodeOperandKind,
    OpCodeTableKind,
    OpKind,
)
from msgspec import Struct

_MODRM_ENDINGS = ("_REG", "_RM", "_MEM", "_MPX")
"""Name endings of operand kinds that are encoded in a ModRM byte."""
_IMPLIED_ADDRESSES = frozenset(
    {
        *(OpCodeOperandKind.SEG_RSI, OpCodeOperandKind.ES_RDI),
        *(OpCodeOperandKind.SEG_RDI, OpCodeOperandKind.SEG_RBX_AL),
    }
)
"""Operands of MOVS, MASKMOV and XLAT, which are not visible operands in the fact tables."""
_PLACES = frozenset({OpKind.REGISTER, OpKind.MEMORY})
_ESCAPE_BYTES = {OpCodeTableKind.T0F: 1, OpCodeTableKind.T0F38: 2, OpCodeTableKind.T0F3A: 2}
"""By table: 0F, 0F 38 or 0F 3A before the opcode."""


class EncodingForm(Struct, frozen=True):
    """Facts about one code."""

    forms: Mapping[str, str]
    """Its forms in the fact tables (``forms_of``)."""
    mnemonic: str
    extensions: frozenset[str]
    visible: tuple[int, ...]
    """Numbers of the operands that the fact tables show."""
    places: tuple[int, ...]
    """Those of them that are registers or addresses."""
    encoding: int
    escape_bytes: int
    """Escape bytes between prefixes and opcode; legacy encodings only."""
    has_modrm: bool
    default_64: bool
    """64-bit operand size without REX.W (PUSH)."""
    force_64: bool
    """64-bit operand size regardless of prefixes (CALL)."""


def encoding_form_of(instruction: Instruction) -> EncodingForm:
    """Facts about the instruction's code."""
    info = OpCodeInfo(instruction.code)
    kinds = info.op_kinds()
    names = [kind_names()[kind] for kind in kinds]
    visible = tuple([number for number, kind in enumerate(kinds) if kind not in _IMPLIED_ADDRESSES])
    return EncodingForm(
        forms=forms_of(spelling.described(info)),
        mnemonic=spelling.mnemonic(instruction, info),
        extensions=frozenset([_feature_names()[feature] for feature in instruction.cpuid_features()]),
        visible=visible,
        places=tuple([number for number in visible if instruction.op_kind(number) in _PLACES]),
        encoding=info.encoding,
        escape_bytes=1 if info.encoding == EncodingKind.D3NOW else _ESCAPE_BYTES.get(info.table, 0),
        has_modrm=info.is_group or info.op_code_len == 2 or any(map(_is_in_modrm, names)),
        default_64=info.default_op_size64,
        force_64=info.force_op_size64 or info.intel_force_op_size64,
    )


def _is_in_modrm(name: str) -> bool:
    """Whether operands of this kind are encoded in the ModRM byte."""
    is_address = name.startswith(("MEM", "SIBMEM")) and not name.startswith("MEM_OFFS")
    return is_address or "_OR_MEM" in name or name.endswith(_MODRM_ENDINGS)


def enum_names(module: object) -> dict[int, str]:
    """Names by value of an iced-x86 enumeration, which is a module of plain integers."""
    return {value: name for name, value in vars(module).items() if isinstance(value, int)}


@cache
def kind_names() -> dict[int, str]:
    """Names of the kinds of operands, by value."""
    return enum_names(OpCodeOperandKind)


@cache
def _feature_names() -> dict[int, str]:
    return enum_names(CpuidFeature)
