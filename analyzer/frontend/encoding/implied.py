"""Operands that an instruction implies and a text may name: registers, in the order of both syntaxes of GNU
as, and the memory of string instructions and XLAT, whose width and segment the bytes do say."""

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
from cyclelens.analyzer.frontend.statements.prefixes import SEGMENT_BYTES

_ADDRESS = frozenset(["rax", "eax"])
_COUNT = frozenset(["rcx", "ecx"])
_HINT = frozenset(["rdx", "edx"])
_LIMIT = frozenset(["rbx", "ebx"])
_REGISTERS: dict[str, tuple[frozenset[str], ...]] = {
    "monitor": (_ADDRESS, _COUNT, _HINT),
    "monitorx": (_ADDRESS, _COUNT, _HINT),
    "mwait": (_ADDRESS, _COUNT),
    "mwaitx": (_ADDRESS, _COUNT, _LIMIT),
    "vmrun": (_ADDRESS,),
    "vmload": (_ADDRESS,),
    "vmsave": (_ADDRESS,),
    "clzero": (_ADDRESS,),
    "invlpga": (_ADDRESS, _COUNT),
    "skinit": (frozenset(["eax"]),),
}
_BEHIND: dict[str, tuple[str, ...]] = dict.fromkeys(("umwait", "tpause"), ("edx", "eax"))
"""Registers behind an operand that the instruction does have."""
_WITHOUT_ADDRESS = frozenset(["mwait", "mwaitx", "skinit"])


def without_implied(mnemonic: str, operands: Sequence[Operand]) -> tuple[list[Operand], bytes]:
    """The operands that have a place in the encoding, and the prefix of a 32-bit address in EAX."""
    names = tuple(each.name if isinstance(each, Register) else "" for each in operands)
    allowed = _REGISTERS.get(mnemonic, ())
    if names and len(names) == len(allowed) and all(map(frozenset.__contains__, allowed, names)):
        is_narrow = names[0] == "eax" and mnemonic not in _WITHOUT_ADDRESS
        return [], b"\x67" if is_narrow else b""
    if len(names) == 3 and names[1:] == _BEHIND.get(mnemonic):
        return [operands[0]], b""
    return list(operands), b""


STRING = re.compile(r"(movs|cmps|stos|lods|scas|ins|outs)([bwlqd]?)")
_OPCODES = {
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
_TARGETS = ("rdi", "edi")
_STRINGS = ("rsi", "esi", *_TARGETS)
_TABLES = ("rbx", "ebx")
_XLAT = frozenset(["xlat", "xlatb"])


def string_instruction(
    mnemonic: str, operands: Sequence[Operand], *, is_att: bool
) -> tuple[bytes, bytes] | None:
    """The segment prefix and the other bytes of a string instruction or XLAT with explicit operands, or of
    one without operands and suffix; None if it is something else. Raises OperandError and
    UnsupportedError."""
    memory = [operand for operand in operands if isinstance(operand, MemoryOperand)]
    if mnemonic in _XLAT and memory:
        segment, narrow = _prefixes(mnemonic, memory)
        return segment, narrow + b"\xd7"
    match = STRING.fullmatch(mnemonic)
    if match is None or (operands and len(memory) != _MEMORY_OPERANDS[match[1]]):
        return None
    name, suffix = match.groups()
    named = [operand.name for operand in operands if isinstance(operand, Register)]
    if (suffix and not operands) or not registers.VECTORS.isdisjoint(named):
        return None
    if name == "movs" and len(operands) > len(memory):
        return None  # AT&T's extending move
    widths = [] if name in ("ins", "outs") else [registers.width(register) // 8 for register in named]
    sizes = [_BYTES_OF[place.size] for place in memory if place.size in _BYTES_OF]
    # GNU as takes 32 bits in AT&T syntax, with a warning.
    size, *_ = [_BYTES_OF[suffix]] if suffix else [*widths, *sizes, 4 if is_att else 0]
    if not size:
        raise OperandError(f"The size of '{mnemonic}' is unknown: add a suffix.")
    segment, narrow = _prefixes(mnemonic, memory)
    opcode = _OPCODES[name] + (size > 1)
    return segment, narrow + {2: b"\x66", 8: b"\x48"}.get(size, b"") + bytes([opcode])


def _prefixes(mnemonic: str, memory: Sequence[MemoryOperand]) -> tuple[bytes, bytes]:
    """The prefixes for the segment and the width of the addresses, which must be the implied ones."""
    bases = _TABLES if mnemonic in _XLAT else _STRINGS
    widths = {registers.width(place.base or "") for place in memory}
    if len(widths) > 1 or any(
        place.base not in bases or place.index or place.displacement for place in memory
    ):
        raise UnsupportedError(f"'{mnemonic}' with this address is not supported.")
    segment = b""
    for place in memory:
        if place.base in _TARGETS and place.segment not in (None, "es"):
            raise OperandError(f"'{mnemonic}' writes to or compares with the segment 'es' only.")
        if place.base not in _TARGETS and place.segment not in (None, "ds"):
            segment = bytes([SEGMENT_BYTES[place.segment]])
    return segment, b"\x67" if widths == {32} else b""
