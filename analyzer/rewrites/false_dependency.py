"""Clears a destination first, where an instruction waits for its old value without using it.

popcnt %rax, %rcx       ->   xor %ecx, %ecx
                             popcnt %rax, %rcx
cvtsi2sd %rax, %xmm0    ->   xorps %xmm0, %xmm0
                             cvtsi2sd %rax, %xmm0
"""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.insight.false_dependencies import false_dependency
from cyclelens.analyzer.rewrites import liveness
from cyclelens.analyzer.rewrites.liveness import Need
from cyclelens.analyzer.rewrites.proposal import Proposal
from cyclelens.analyzer.rewrites.site import Site, resized
from cyclelens.analyzer.uops.registers import canonical


def propose(site: Site) -> Iterator[Proposal]:
    instruction = site.template.instruction
    found = false_dependency(instruction)
    if found is None:
        return
    note = " (its upper part becomes zero)" if found.keeps_upper else ""
    if note and liveness.upper_elements(site, canonical(found.register)) is Need.READ:
        return
    name = site.register(found.register if found.keeps_upper else resized(found.register, 32))
    clear = site.write(found.mnemonic, *[name] * found.operands)
    title = f"Clear {name.lstrip('%')} first: {instruction.mnemonic} waits for its old value{note}"
    yield Proposal(title, site.statement.line, (site.insert_before(clear),), "false-dependency")
