"""Splits a lea of base, index and displacement: two simple ones have more ports and less latency.

lea 8(%rax,%rbx,4), %rcx   ->   lea (%rax,%rbx,4), %rcx
                                lea 8(%rcx), %rcx
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cyclelens.analyzer.rewrites.proposal import Proposal
from cyclelens.analyzer.rewrites.site import Site, resized
from msgspec.structs import replace

_WITH_DISPLACEMENT = frozenset(["RBP", "R13", "EBP", "R13D"])
"""Registers that cannot be encoded as base without a displacement."""
_NAME = re.compile(r"[A-Za-z_.][\w.]*")


def propose(site: Site) -> Iterator[Proposal]:
    """Propose a second lea rather than an add, because lea preserves the flags."""
    instruction = site.template.instruction
    if instruction.mnemonic != "lea" or instruction.effective_operand_size == 1:
        return
    target, address = instruction.operands[0].register, instruction.operands[1]
    if target is None or address.base in (None, "RIP") or not address.index:
        return
    if not address.displacement:
        if address.displacement_bits and address.scale == 1 and address.index not in _WITH_DISPLACEMENT:
            swapped = replace(address, base=address.index, index=address.base)
            better = site.write("lea", site.register(target), site.address(swapped, 0))
            yield Proposal(
                "Exchange base and index",
                site.statement.line,
                (site.replace(better),),
                reason=f": {address.base.lower()} as base costs a displacement",
            )
        return
    if len(_NAME.findall(site.operands[1])) > 2:
        return  # the address has a symbol, whose name must not become a number
    first = site.write("lea", site.register(target), site.address(address, 0))
    simple = replace(address, base=resized(target, 64), index=None)
    second = site.write("lea", site.register(target), site.address(simple, address.displacement))
    yield Proposal(
        "Split the three-component lea in two", site.statement.line, (site.replace(first, second),)
    )
