"""Register names in assembly text (lower case), and their spelling in the model."""

from __future__ import annotations

_OLD = ("ax", "bx", "cx", "dx", "si", "di", "bp", "sp")
_NUMBERED = range(8, 16)

GENERAL_64 = frozenset([f"r{name}" for name in _OLD] + [f"r{n}" for n in _NUMBERED])
GENERAL_32 = frozenset([f"e{name}" for name in _OLD] + [f"r{n}d" for n in _NUMBERED])
GENERAL_16 = frozenset([*_OLD, *(f"r{n}w" for n in _NUMBERED)])
GENERAL_8 = frozenset(
    ["al", "bl", "cl", "dl", "ah", "bh", "ch", "dh", "sil", "dil", "bpl", "spl"]
    + [f"r{n}b" for n in _NUMBERED]
    + [f"r{n}l" for n in _NUMBERED]
)
SEGMENTS = frozenset(["cs", "ds", "es", "fs", "gs", "ss"])
VECTORS = frozenset(f"{kind}mm{n}" for kind in "xy" for n in range(16))
EVEX_ONLY = frozenset(
    [f"{kind}mm{n}" for kind in "xy" for n in range(16, 32)]
    + [f"zmm{n}" for n in range(32)]
    + [f"k{n}" for n in range(8)]
)
"""Registers that only EVEX encodings reach, and the mask registers."""
TILES = frozenset(f"tmm{n}" for n in range(8))
"""AMX tile registers."""
VECTOR_INDEXES = VECTORS | frozenset(name for name in EVEX_ONLY if "mm" in name)
ADDRESSES = GENERAL_64 | GENERAL_32 | frozenset(["rip", "eip"])

REGISTERS = (
    GENERAL_64
    | GENERAL_32
    | GENERAL_16
    | GENERAL_8
    | SEGMENTS
    | VECTORS
    | EVEX_ONLY
    | TILES
    | frozenset(f"mm{n}" for n in range(8))
    | frozenset(f"st({n})" for n in range(8))
    | frozenset(f"cr{n}" for n in range(16))
    | frozenset(f"dr{n}" for n in range(16))
    | frozenset(f"bnd{n}" for n in range(4))
    | frozenset(["st", "rip", "eip"])
)


def width(name: str) -> int:
    """Bits of a general-purpose register; 0 for any other register."""
    for bits, names in ((64, GENERAL_64), (32, GENERAL_32), (16, GENERAL_16), (8, GENERAL_8)):
        if name in names:
            return bits
    return 0


def model_name(name: str) -> str:
    """Spelling in the model: ``rax`` -> ``RAX``, ``st(1)`` -> ``ST1``, ``r8l`` -> ``R8B``."""
    if name.startswith("st"):
        return "ST" + (name[3] if len(name) > 2 else "0")
    if name in GENERAL_8 and name[0] == "r" and name.endswith("l"):
        return name[:-1].upper() + "B"
    return name.upper()
