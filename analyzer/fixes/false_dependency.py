"""Instructions that wait for their destination although they do not use it: clear it first.

popcnt %rax, %rcx       ->   xor %ecx, %ecx
                             popcnt %rax, %rcx
cvtsi2sd %rax, %xmm0    ->   xorps %xmm0, %xmm0
                             cvtsi2sd %rax, %xmm0
"""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.fixes import liveness
from cyclelens.analyzer.fixes.liveness import Need
from cyclelens.analyzer.fixes.proposal import Proposal
from cyclelens.analyzer.fixes.site import Site, resized
from cyclelens.analyzer.model.instruction import Instruction, OperandKind

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


def propose(site: Site) -> Iterator[Proposal]:
    instruction = site.template.instruction
    if len(instruction.operands) < 2 or instruction.operands[0].register is None:
        return
    target = instruction.operands[0].register
    vex = instruction.mnemonic.startswith("v") and instruction.mnemonic[1:] in _SCALARS
    if instruction.mnemonic in _COUNTS and not _reads(instruction, target, 1):
        name = site.register(resized(target, 32))
        clear, note = site.write("xor", name, name), ""
    elif instruction.mnemonic in _SCALARS and not _reads(instruction, target, 1):
        name = site.register(target)
        clear, note = site.write("xorps", name, name), " (its upper part becomes zero)"
    elif vex and instruction.operands[1].register == target and not _reads(instruction, target, 2):
        name = site.register(target)
        clear, note = site.write("vxorps", name, name, name), " (its upper part becomes zero)"
    else:
        return
    if note and liveness.upper_elements(site, f"XMM{target[3:]}") is Need.READ:
        return
    title = f"Clear {name.lstrip('%')} first: {instruction.mnemonic} waits for its old value{note}"
    yield Proposal(title, site.statement.line, (site.insert_before(clear),), "false-dependency")


def _reads(instruction: Instruction, target: str, first_source: int) -> bool:
    """Whether the instruction really needs the old value of its target."""
    general = instruction.mnemonic in _COUNTS

    def same(register: str | None) -> bool:
        if register is None:
            return False
        return resized(register, 64) == resized(target, 64) if general else register == target

    for operand in instruction.operands[first_source:]:
        if operand.kind is OperandKind.REGISTER and same(operand.register):
            return True
        if operand.kind is OperandKind.MEMORY and general and (same(operand.base) or same(operand.index)):
            return True
    return False
