"""Registers that an instruction implies and a text may name, in the order of both syntaxes of GNU as."""

from __future__ import annotations

from collections.abc import Sequence

from cyclelens.analyzer.frontend.statements.operand_types import Operand, Register

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
