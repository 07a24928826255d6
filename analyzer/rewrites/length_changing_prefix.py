"""Avoids a 16-bit immediate after a 66 prefix: loads the constant beforehand, or uses 32 bits.

add $0x1234, %ax   ->   mov $0x1234, %r11d (before the region), add %r11w, %ax
                   or   add $0x1234, %eax
"""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.model.instruction import OperandKind
from cyclelens.analyzer.rewrites import liveness
from cyclelens.analyzer.rewrites.liveness import Need
from cyclelens.analyzer.rewrites.proposal import Proposal
from cyclelens.analyzer.rewrites.site import Site, resized

CODE = "lcp-stall"

_WITH_REGISTER_FORM = frozenset(["add", "or", "adc", "sbb", "and", "sub", "xor", "cmp", "test", "mov"])
_SAME_LOW_HALF = frozenset(["add", "or", "and", "sub", "xor", "mov"])
"""Operations whose low 16 result bits do not depend on the upper bits of the operands."""


def propose(site: Site) -> Iterator[Proposal]:
    instruction = site.template.instruction
    immediate, operands = instruction.immediate, site.operands
    if not site.template.length_changing_prefix or immediate is None or len(operands) != 2:
        return
    value = immediate & 0xFFFF
    line = site.statement.line
    scratch = site.scratch()
    if scratch and instruction.mnemonic in _WITH_REGISTER_FORM and not site.has_other_entries:
        load = site.write("mov", site.register(resized(scratch, 32)), site.number(value))
        use = site.replace_operand(operands[1], site.register(resized(scratch, 16)))
        if use is not None:
            name = resized(scratch, 32).lower()
            yield Proposal(
                f"Load {value:#x} into {name} before the region",
                line,
                (site.insert_before_region(load), use),
                CODE,
                caution="which does not use it",
            )
    target = instruction.operands[0]
    if target.kind is OperandKind.REGISTER and target.register and instruction.mnemonic in _SAME_LOW_HALF:
        wide = resized(target.register, 32)
        flags_stay = instruction.mnemonic == "mov"
        if liveness.upper_part(site, resized(wide, 64), 16) is Need.READ:
            return
        if not flags_stay and liveness.flags(site) is Need.READ:
            return
        changes = "its upper half" if flags_stay else "its upper half and the flags"
        yield Proposal(
            f"Use {wide.lower()}",
            line,
            (site.replace(site.write(instruction.mnemonic, site.register(wide), site.number(value))),),
            CODE,
            caution=f"{changes} may differ",
        )
