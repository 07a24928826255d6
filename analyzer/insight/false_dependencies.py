"""Finds false dependencies on the old value of a destination: a zero idiom before the instruction removes
them.

popcnt %rax, %rcx                   waits for rcx on some processors
cvtsi2sd %rax, %xmm0                keeps the upper part of xmm0
vpcompressd %zmm1, %zmm0{%k1}{z}    waits for zmm0 on some processors
"""

from __future__ import annotations

import re

from cyclelens.analyzer.isa.register_use import with_register
from cyclelens.analyzer.model.instruction import Instruction
from cyclelens.analyzer.uops.registers import canonical
from msgspec import Struct
from msgspec.structs import replace

_COUNTS = frozenset(["popcnt", "lzcnt", "tzcnt", "blsi", "blsr", "blsmsk"])
"""These write the flags too, so a XOR before them destroys nothing."""

_SCALARS = frozenset(
    [
        "cvtsi2sd",
        "cvtsi2ss",
        "cvtsd2ss",
        "cvtss2sd",
        "sqrtsd",
        "sqrtss",
        "rcpss",
        "rsqrtss",
        "roundsd",
        "roundss",
    ]
)
"""These keep the upper part of the destination."""


_WHOLE = re.compile(
    r"vp?(compress|expand)(p[sd]|[bwdq])|vperm([dq]|p[sd])|vrange[ps][sd]|vpmullq|vfc?mulc[ps]h|vgetmant[ps][sdh]"
)
"""These wait for the target on some processors and keep nothing of it, unless a mask merges (V12)."""
_LOW = frozenset(f"XMM{number}" for number in range(16))
"""The registers that a zero idiom with VEX can name; it clears their upper parts too."""
_PREFIX = len("XMM")


class FalseDependency(Struct, frozen=True):
    """An instruction's false dependency, and the zero idiom that removes it."""

    register: str
    """The instruction's name for it: ``RCX``, ``XMM0``."""
    mnemonic: str
    operands: int
    """Number of times the zero idiom names the register."""
    code: bytes
    """Machine code of the zero idiom; for a general-purpose register its 32-bit form."""
    keeps_upper: bool
    """True if the instruction keeps the upper part of the register, which the zero idiom clears."""


def false_dependency(instruction: Instruction) -> FalseDependency | None:
    """The false dependency of an instruction on its destination; None if it has none."""
    if len(instruction.operands) < 2 or instruction.operands[0].register is None:
        return None
    target, name = instruction.operands[0].register, instruction.mnemonic
    found, sources = None, instruction.operands[1:]
    if name in _COUNTS:
        found = FalseDependency(target, "xor", 2, b"\x31\xc0", False)
    elif name in _SCALARS:
        found = FalseDependency(target, "xorps", 2, b"\x0f\x57\xc0", True)
    elif name.startswith("v") and name[1:] in _SCALARS and sources[0].register == target:
        found = FalseDependency(target, "vxorps", 3, b"\xc5\xf8\x57\xc0", True)
        sources = sources[1:]
    elif _WHOLE.fullmatch(name) and (instruction.mask is None or instruction.zeroing):
        target = f"XMM{target[_PREFIX:]}"
        if target in _LOW:
            found = FalseDependency(target, "vpxor", 3, b"\xc5\xf9\xef\xc0", False)
    needed = {canonical(part) for each in sources for part in (each.register, each.base, each.index) if part}
    if found is None or canonical(target) in needed:
        return None
    first = "RAX" if name in _COUNTS else "XMM0"
    return replace(found, code=with_register(found.code, first, canonical(target)))
