"""Clears a destination first, where an instruction waits for its old value without using it.

popcnt %rax, %rcx       ->   xor %ecx, %ecx
                             popcnt %rax, %rcx
cvtsi2sd %rax, %xmm0    ->   xorps %xmm0, %xmm0
                             cvtsi2sd %rax, %xmm0
vpcompressd %zmm1, %zmm0{%k1}{z}   ->   vpxor %xmm0, %xmm0, %xmm0
                                        vpcompressd %zmm1, %zmm0{%k1}{z}
"""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.insight.false_dependencies import false_dependency
from cyclelens.analyzer.rewrites import liveness
from cyclelens.analyzer.rewrites.liveness import Need
from cyclelens.analyzer.rewrites.proposal import Proposal
from cyclelens.analyzer.rewrites.site import CLEARED, Site, resized
from cyclelens.analyzer.uops.registers import canonical, is_simd


def propose(site: Site) -> Iterator[Proposal]:
    instruction = site.template.instruction
    found = false_dependency(instruction)
    if found is None:
        return
    if found.keeps_upper and liveness.upper_elements(site, canonical(found.register)) is Need.READ:
        return
    whole = found.keeps_upper or is_simd(found.register)
    name = site.register(found.register if whole else resized(found.register, 32))
    clear = site.write(found.mnemonic, *[name] * found.operands)
    yield Proposal(
        f"Clear {name.lstrip('%')} first",
        site.statement.line,
        (site.insert_before(clear),),
        "false-dependency",
        caution=CLEARED if found.keeps_upper else "",
        reason=f": {instruction.mnemonic} waits for its old value",
    )
