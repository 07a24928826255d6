"""Finds the VEX form of a legacy SSE instruction and its operands."""

from __future__ import annotations

from enum import Enum
from functools import cache

from cyclelens.analyzer.isa.codes import enum_names
from cyclelens.analyzer.isa.decoder import OPTIONS
from iced_x86 import Code, Decoder, Mnemonic, OpKind

_COPIES = frozenset({Mnemonic.MOVSS, Mnemonic.MOVSD})
"""Loads have the same operands in both forms; copies between registers keep part of the destination."""
_BLENDS = frozenset({Mnemonic.BLENDVPS, Mnemonic.BLENDVPD, Mnemonic.PBLENDVB})


class VexForm(Enum):
    """Operands of the VEX form, whose name has a ``v`` in front."""

    SAME = "those of legacy SSE"
    REPEATED = "the destination once more as the first source"
    MASKED = "the destination once more, and XMM0 at the end"


def vex_form(code: bytes) -> VexForm | None:
    """VEX form of a legacy SSE instruction that writes a vector register; None if it has none (SHA, MMX)."""
    instruction = Decoder(64, code, OPTIONS).decode()
    if instruction.mnemonic in _COPIES:
        return VexForm.REPEATED if instruction.op1_kind == OpKind.REGISTER else VexForm.SAME
    if instruction.mnemonic in _BLENDS:
        return VexForm.MASKED
    codes, known = _names()
    name = codes[instruction.code]
    if f"VEX_V{name}" in known:
        return VexForm.SAME
    stem, _, operands = name.partition("_")
    return VexForm.REPEATED if f"VEX_V{stem}_XMM_{operands}" in known else None


@cache
def _names() -> tuple[dict[int, str], frozenset[str]]:
    """iced-x86's names of all codes. For example, ``ADDPS_XMM_XMMM128`` has the VEX form
    ``VEX_VADDPS_XMM_XMM_XMMM128``."""
    codes = enum_names(Code)
    return codes, frozenset(codes.values())
