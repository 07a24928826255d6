"""Instructions that wait for the old value of the register that they write although nobody wants it: a zero
idiom before them takes the dependency away.

popcnt %rax, %rcx       waits for rcx on some processors
cvtsi2sd %rax, %xmm0    keeps the upper part of xmm0
"""

from __future__ import annotations

from cyclelens.analyzer.common.named_tuple import NamedTuple
from cyclelens.analyzer.isa.register_use import with_register
from cyclelens.analyzer.model.instruction import Instruction
from cyclelens.analyzer.uops.registers import canonical

_COUNTS = frozenset(["popcnt", "lzcnt", "tzcnt"])
"""They write the flags, too, so that a xor before them destroys nothing."""

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
"""They keep the upper part of the destination, which nobody wants."""


class FalseDependency(NamedTuple):
    """What an instruction waits for in vain, and what clears it."""

    register: str
    """As the instruction names it: ``RCX``, ``XMM0``."""
    mnemonic: str
    operands: int
    """How often the zero idiom names the register."""
    code: bytes
    """Of the zero idiom, 32 bits of a general-purpose register."""
    keeps_upper: bool
    """The upper part of the register is kept; cleared, it is zero."""


def false_dependency(instruction: Instruction) -> FalseDependency | None:
    """The dependency of an instruction on its own destination that a zero idiom takes away, if it has one."""
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
    needed = {canonical(part) for each in sources for part in (each.register, each.base, each.index) if part}
    if found is None or canonical(target) in needed:
        return None
    first = "RAX" if name in _COUNTS else "XMM0"
    return found._replace(code=with_register(found.code, first, canonical(target)))
