"""Separates legacy SSE from 256-bit code: encodes it with VEX, or puts vzeroupper before it.

paddd %xmm0, %xmm2              ->   vpaddd %xmm0, %xmm2, %xmm2
sha256rnds2 %xmm0, %xmm1, %xmm2 ->   vzeroupper
                                     sha256rnds2 %xmm0, %xmm1, %xmm2

Both clear upper halves that legacy SSE preserves: those of the destinations, or of all vector registers.
Neither is proposed if an instruction of the region reads one of these halves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cyclelens.analyzer.insight.hazards.sse_avx_mix import CODE
from cyclelens.analyzer.isa.upper_halves import used_halves
from cyclelens.analyzer.isa.vex_forms import VexForm, vex_form
from cyclelens.analyzer.model.instruction import OperandKind
from cyclelens.analyzer.model.microarchitecture import UpperHalfRule
from cyclelens.analyzer.model.upper_halves import UpperHalves
from cyclelens.analyzer.rewrites import liveness
from cyclelens.analyzer.rewrites.liveness import Need
from cyclelens.analyzer.rewrites.proposal import Proposal
from cyclelens.analyzer.rewrites.site import Site
from cyclelens.analyzer.uops.upper_halves import effects, uses_of
from msgspec.structs import replace

_OF_TWO_WIDTHS = ("cvtpd2ps", "cvtpd2dq", "cvttpd2dq")
"""Instructions whose VEX form takes 128 or 256 bits from memory; AT&T syntax tells which by a suffix."""

_ALL = frozenset(f"XMM{number}" for number in range(16))
"""Registers that vzeroupper clears."""


def propose(site: Site) -> Iterator[Proposal]:
    """Propose both rewrites at the region's first finding; each changes the whole region."""
    name = site.prediction.microarchitecture
    places = [
        finding.instruction
        for finding in site.analysis.findings
        if finding.code == CODE and finding.microarchitecture in ("", name)
    ]
    if not places or site.index != min(places):
        return
    uses = uses_of(template.instruction for template in site.prediction.instructions)
    legacy = [replace(site, index=index) for index, use in enumerate(uses) if use is UpperHalves.KEEPS]
    yield from _with_vex(site, legacy)
    yield from _apart(site, uses)


def _with_vex(site: Site, legacy: Sequence[Site]) -> Iterator[Proposal]:
    edits, cleared = [], set[str]()
    for each in legacy:
        if not each.usable or (statement := _statement(each)) is None:
            return
        written = each.template.instruction.operands[0].register or ""
        if liveness.upper_half(each, written) is Need.READ:
            return
        edits.append(each.replace(statement))
        cleared |= {written} & _ALL
    yield Proposal(
        "Write SSE with VEX",
        site.statement.line,
        tuple(edits),
        CODE,
        brief="SSE with VEX",
        cleared=frozenset(cleared),
        caution="the upper halves of the destinations become zero",
    )


def _statement(site: Site) -> str | None:
    """The statement with VEX; None if there is no such form or the spelling is not recognised."""
    instruction = site.template.instruction
    form = vex_form(instruction.code)
    written, operands = site.statement.text.split()[0], site.operands
    if form is None or not operands or not written.lower().startswith(instruction.mnemonic[:3]):
        return None
    name = f"v{written}" if written.islower() else f"V{written}"
    if form is VexForm.SAME:
        if site.att and instruction.mnemonic in _OF_TWO_WIDTHS and _reads_memory(site):
            name += "x"
        return site.write(name, *operands)
    if form is VexForm.REPEATED:
        return site.write(name, operands[0], *operands)
    return site.write(name, operands[0], *operands[:2], site.register("XMM0"))


def _reads_memory(site: Site) -> bool:
    return any(operand.kind is OperandKind.MEMORY for operand in site.template.instruction.operands)


def _apart(site: Site, uses: Sequence[UpperHalves]) -> Iterator[Proposal]:
    """Insert vzeroupper wherever legacy SSE would meet upper halves in use."""
    edits = []
    for index, effect in enumerate(effects(uses, UpperHalfRule.PUT_ASIDE)):
        if effect is None or effect.fetches:
            continue
        place = replace(site, index=index)
        if not effect.certain or not place.usable:
            return
        if any(liveness.upper_half(place, register) is Need.READ for register in _read(site)):
            return
        edits.append(place.insert_before("vzeroupper"))
    if edits:
        yield Proposal(
            "Put vzeroupper before SSE",
            site.statement.line,
            tuple(edits),
            CODE,
            brief="vzeroupper before SSE",
            cleared=_ALL,
            caution="the upper halves of all vector registers become zero",
        )


def _read(site: Site) -> frozenset[str]:
    """Registers whose upper halves the region reads."""
    found = [used_halves(template.instruction.code)[0] for template in site.prediction.instructions]
    return frozenset().union(*found)
