"""Facts about an iced-x86 code: what all instructions with the same code share.

iced-x86 builds tables of all its 4,936 codes on the first query, which takes 3 ms. ``codes.txt``, made by
``dev/codes_generator.py``, holds the answers of one version of iced-x86; other versions are queried directly.
"""

from __future__ import annotations

import os
from functools import cache

import iced_x86
from cyclelens.analyzer.common.named_tuple import NamedTuple
from cyclelens.analyzer.isa.lines import line_of

CODES_PATH = os.path.join(os.path.dirname(__file__), "codes.txt")
_MODRM_ENDINGS = ("_REG", "_RM", "_MEM", "_MPX")
"""Name endings of operand kinds that are encoded in a ModRM byte."""


class Said(NamedTuple):
    """Facts about one code."""

    description: str
    """Code in the manual's notation (``spelling.described``)."""
    mnemonic: str
    extensions: str
    """Separated by spaces."""
    visible: str
    """Numbers of the operands that the fact tables show, as digits."""
    encoding: int
    escape_bytes: int
    """Escape bytes between prefixes and opcode; legacy encodings only."""
    has_modrm: bool
    default_64: bool
    """64-bit operand size without REX.W (PUSH)."""
    force_64: bool
    """64-bit operand size regardless of prefixes (CALL)."""


def said_of(instruction: iced_x86.Instruction) -> Said:
    """Facts about the instruction's code."""
    line = line_of(_table(), f"{instruction.code:04}")
    if not line:
        return asked(instruction)
    description, mnemonic, extensions, visible, encoding, escapes, *marks = line.split("\t")
    flags = [mark == "1" for mark in marks]
    return Said(description, mnemonic, extensions, visible, int(encoding), int(escapes), *flags)


def text_of(code: int, said: Said) -> str:
    """The table's line for a code, as ``said_of`` parses it."""
    return "\t".join([f"{code:04}", *(str(int(part) if isinstance(part, bool) else part) for part in said)])


@cache
def _table() -> bytes:
    """The table if it was made for this version of iced-x86; otherwise empty."""
    with open(CODES_PATH, "rb") as file:
        table = file.read()
    version = table[: table.index(b"\n")].split()[-1].decode()
    # importlib.metadata takes longer to answer than iced-x86 takes to import.
    around = os.path.dirname(os.path.dirname(iced_x86.__file__))
    return table if os.path.isdir(os.path.join(around, f"iced_x86-{version}.dist-info")) else b""


def asked(instruction: iced_x86.Instruction) -> Said:
    """Facts about the instruction's code, from iced-x86 itself."""
    from cyclelens.analyzer.isa import spelling
    from iced_x86 import EncodingKind, OpCodeInfo, OpCodeOperandKind, OpCodeTableKind

    info = OpCodeInfo(instruction.code)
    kinds = info.op_kinds()
    names = [_kind_names()[kind] for kind in kinds]
    # 0F, 0F 38 or 0F 3A before the opcode.
    escapes = {OpCodeTableKind.T0F: 1, OpCodeTableKind.T0F38: 2, OpCodeTableKind.T0F3A: 2}
    # Implied addresses (MOVS, MASKMOV, XLAT) are not visible operands in the fact tables.
    implied = {
        *(OpCodeOperandKind.SEG_RSI, OpCodeOperandKind.ES_RDI),
        *(OpCodeOperandKind.SEG_RDI, OpCodeOperandKind.SEG_RBX_AL),
    }
    return Said(
        description=spelling.described(info),
        mnemonic=spelling.mnemonic(instruction, info),
        extensions=" ".join([_feature_names()[feature] for feature in instruction.cpuid_features()]),
        visible="".join([str(number) for number, kind in enumerate(kinds) if kind not in implied]),
        encoding=info.encoding,
        escape_bytes=1 if info.encoding == EncodingKind.D3NOW else escapes.get(info.table, 0),
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
def _kind_names() -> dict[int, str]:
    from iced_x86 import OpCodeOperandKind

    return enum_names(OpCodeOperandKind)


@cache
def _feature_names() -> dict[int, str]:
    from iced_x86 import CpuidFeature

    return enum_names(CpuidFeature)
