"""What iced-x86 says of its codes: what holds for every instruction with the same code.

It makes tables of all 4,936 codes when it is asked of the first one, which takes 3 ms of a start. The table
beside this module, made by ``dev/codes_generator.py``, has what one version of it says; any other is asked
itself.
"""

from __future__ import annotations

import os
from functools import cache

import iced_x86
from cyclelens.analyzer.common.named_tuple import NamedTuple
from cyclelens.analyzer.isa.lines import line_of

CODES_PATH = os.path.join(os.path.dirname(__file__), "codes.txt")
_MODRM_ENDINGS = ("_REG", "_RM", "_MEM", "_MPX")
"""Of operand kinds."""


class Said(NamedTuple):
    """Of one code."""

    description: str
    """``spelling.described``."""
    mnemonic: str
    extensions: str
    """With spaces between."""
    visible: str
    """Numbers of the operands that the fact tables show."""
    encoding: int
    escape_bytes: int
    """Between prefixes and opcode, legacy encodings only."""
    has_modrm: bool
    default_64: bool
    """64-bit operand size without REX.W (PUSH)."""
    force_64: bool
    """64-bit operand size whatever the prefixes (CALL)."""


def said_of(instruction: iced_x86.Instruction) -> Said:
    """What is said of the instruction's code."""
    line = line_of(_table(), f"{instruction.code:04}")
    if not line:
        return asked(instruction)
    description, mnemonic, extensions, visible, encoding, escapes, *marks = line.split("\t")
    flags = [mark == "1" for mark in marks]
    return Said(description, mnemonic, extensions, visible, int(encoding), int(escapes), *flags)


def text_of(code: int, said: Said) -> str:
    """The line of the table, which ``said_of`` reads."""
    return "\t".join([f"{code:04}", *(str(int(part) if isinstance(part, bool) else part) for part in said)])


@cache
def _table() -> bytes:
    """The lines about this version of iced-x86; none if it is another."""
    with open(CODES_PATH, "rb") as file:
        table = file.read()
    version = table[: table.index(b"\n")].split()[-1].decode()
    # To ask importlib.metadata takes longer than iced-x86 itself.
    around = os.path.dirname(os.path.dirname(iced_x86.__file__))
    return table if os.path.isdir(os.path.join(around, f"iced_x86-{version}.dist-info")) else b""


def asked(instruction: iced_x86.Instruction) -> Said:
    """What iced-x86 itself says."""
    from cyclelens.analyzer.isa import spelling
    from iced_x86 import EncodingKind, OpCodeInfo, OpCodeOperandKind, OpCodeTableKind

    info = OpCodeInfo(instruction.code)
    kinds = info.op_kinds()
    names = [_kind_names()[kind] for kind in kinds]
    # 0F, 0F 38, 0F 3A in front of the opcode.
    escapes = {OpCodeTableKind.T0F: 1, OpCodeTableKind.T0F38: 2, OpCodeTableKind.T0F3A: 2}
    # Implied addresses (MOVS, MASKMOV, XLAT), which the tables do not count as visible operands.
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
    """The names of one of iced-x86's enumerations, which are modules of plain integers."""
    return {value: name for name, value in vars(module).items() if isinstance(value, int)}


@cache
def _kind_names() -> dict[int, str]:
    from iced_x86 import OpCodeOperandKind

    return enum_names(OpCodeOperandKind)


@cache
def _feature_names() -> dict[int, str]:
    from iced_x86 import CpuidFeature

    return enum_names(CpuidFeature)
