"""Widens an addition of a constant to 64 bits where the renamer executes those (rule V9).

Such an addition takes neither a port nor a cycle.

add $8, %eax         ->   add $8, %rax
lea 8(%rdi), %edi    ->   lea 8(%rdi), %rdi
"""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.rewrites import liveness
from cyclelens.analyzer.rewrites.liveness import Need
from cyclelens.analyzer.rewrites.proposal import Proposal
from cyclelens.analyzer.rewrites.site import Site, resized

_LOW_HALF_STAYS = frozenset(["add", "sub", "inc", "dec", "lea"])
_NARROW = frozenset(
    [*(f"E{name}" for name in ("AX", "BX", "CX", "DX", "SI", "DI", "BP")), *(f"R{n}D" for n in range(8, 16))]
)


def propose(site: Site) -> Iterator[Proposal]:
    """Propose the 64-bit addition; the upper half of the result and the flags may differ."""
    instruction = site.template.instruction
    limit = registry.get(site.prediction.microarchitecture).add_offset_limit
    if not limit or instruction.mnemonic not in _LOW_HALF_STAYS:
        return
    target = instruction.operands[0].register
    if target is None or target not in _NARROW:
        return
    wide = resized(target, 64)
    constant: int | None = 1
    if instruction.mnemonic == "lea":
        address = instruction.operands[1]
        constant = address.displacement if address.base and not address.index else None
    elif instruction.mnemonic in ("add", "sub"):
        constant = instruction.immediate
    if constant is None or not -limit <= constant < limit:
        return
    if liveness.upper_part(site, wide, 32) is Need.READ:
        return
    flags_stay = not site.template.flag_outputs
    if not flags_stay and liveness.flags(site) is Need.READ:
        return
    mnemonic = instruction.mnemonic
    better = site.write(mnemonic, site.register(wide), *site.operands[1:])
    changes = "its upper half" if flags_stay else "its upper half and the flags"
    yield Proposal(
        f"Use {wide.lower()}",
        site.statement.line,
        (site.replace(better),),
        caution=f"{changes} may differ",
        reason=": the renamer adds the constant",
    )
