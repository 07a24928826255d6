"""Encodes string instructions with explicit operands: the width is their only choice."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cyclelens.analyzer.frontend.statements import registers
from cyclelens.analyzer.frontend.statements.operand_types import (
    MemoryOperand,
    Operand,
    OperandError,
    Register,
    UnsupportedError,
)

STRING = re.compile(r"(movs|cmps|stos|lods|scas|ins|outs)([bwlqd]?)")
OPCODES = {
    "ins": 0x6C,
    "outs": 0x6E,
    "movs": 0xA4,
    "cmps": 0xA6,
    "stos": 0xAA,
    "lods": 0xAC,
    "scas": 0xAE,
}
_MEMORY_OPERANDS = {"ins": 1, "outs": 1, "movs": 2, "cmps": 2, "stos": 1, "lods": 1, "scas": 1}
"""Number of memory operands in explicit form."""
_BYTES_OF = {"b": 1, "w": 2, "l": 4, "d": 4, "q": 8, "byte": 1, "word": 2, "dword": 4, "qword": 8}


def string_instruction(mnemonic: str, operands: Sequence[Operand]) -> bytes | None:
    """Bytes of a string instruction with explicit operands; None if it is something else."""
    match = STRING.fullmatch(mnemonic)
    memory = [operand for operand in operands if isinstance(operand, MemoryOperand)]
    if match is None or not memory or len(memory) != _MEMORY_OPERANDS[match[1]]:
        return None
    if any(place.base not in ("rsi", "rdi") or place.index or place.displacement for place in memory):
        return None
    if any(place.segment not in (None, "es" if place.base == "rdi" else "ds") for place in memory):
        raise UnsupportedError("Segment overrides of string instructions are not supported.")
    widths = [registers.width(operand.name) // 8 for operand in operands if isinstance(operand, Register)]
    if match[1] in ("ins", "outs"):
        widths = []
    sizes = [_BYTES_OF[place.size] for place in memory if place.size in _BYTES_OF]
    size = ([_BYTES_OF[match[2]]] if match[2] else widths + sizes) or [0]
    if not size[0]:
        raise OperandError(f"The size of '{mnemonic}' is unknown: add a suffix.")
    opcode = OPCODES[match[1]] + (size[0] > 1)
    return {2: b"\x66", 8: b"\x48"}.get(size[0], b"") + bytes([opcode])
