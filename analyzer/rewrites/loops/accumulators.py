"""Splits the accumulator of a latency-bound loop over several registers, which are summed after the loop.

                                                   vxorps %xmm2, %xmm2, %xmm2
.L: vfmadd231ps (%rdi), %ymm1, %ymm0       ->      .L: vfmadd231ps (%rdi), %ymm1, %ymm0
                                                       vfmadd231ps 32(%rdi), %ymm1, %ymm2
                                                   vaddps %ymm2, %ymm0, %ymm0
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cyclelens.analyzer.insight.accumulators import Accumulator, accumulators, operation
from cyclelens.analyzer.insight.dependencies import dependencies
from cyclelens.analyzer.rewrites.loops.body import WORDS, Body, Item, renamed
from cyclelens.analyzer.rewrites.loops.steps import unrolled
from cyclelens.analyzer.rewrites.proposal import Proposal, Replacement
from cyclelens.analyzer.rewrites.site import resized
from cyclelens.analyzer.uops.registers import is_general_purpose

_COUNTS = (2, 4, 8)
_FLOAT = re.compile(r"[ps][sdh]$")


def propose(body: Body) -> Iterator[Proposal]:
    """Propose splitting all accumulators on the critical chain together, and each alone."""
    if body.site.has_other_entries:
        return
    edges = dependencies(body.site.prediction).edges
    critical = {edge.producer for edge in edges if edge.critical}
    found = [each for each in accumulators(body.templates, edges) if critical.intersection(each.updates)]
    found = [each for each in found if _sum(body, each, "a", "b") is not None]
    groups = [[each] for each in found] if len(found) < 2 else [found, *([each] for each in found[:2])]
    for group in groups:
        for count in _COUNTS:
            proposal = _split(body, group, count)
            if proposal is not None:
                yield proposal


def _split(body: Body, group: Sequence[Accumulator], count: int) -> Proposal | None:
    times = max(each.copies(count) for each in group)
    items = body.items if times == 1 else unrolled(body, times)
    if items is None:
        return None
    before: list[str] = []
    behind: list[str] = []
    taken: set[str] = set()
    for each in group:
        free = [name for name in body.free(each.register) if name not in taken][: count - 1]
        if len(free) < count - 1:
            return None
        taken.update(free)
        registers = [each.register, *free]
        turn = 0
        for place, item in enumerate(items):
            if item.origin in each.updates:
                items[place] = Item(item.origin, renamed(item.text, each.register, registers[turn % count]))
                turn += 1
        for name in free:
            before += _empty(body, each, name)
        while len(registers) > 1:
            for one, other in zip(registers[::2], registers[1::2], strict=True):
                behind += _sum(body, each, one, other) or []
            registers = registers[::2]
    floats = any(_is_float(_first(body, each)[0]) for each in group)
    notes = ["sums are rounded differently"] if floats else []
    if any(is_general_purpose(each.register) for each in group):
        notes.append("the flags behind the loop differ")
    if times > 1:
        notes.append(f"for a multiple of {times} iterations")
    names = " and ".join(each.name for each in group)
    counted = "accumulators" if len(group) == 1 else "accumulators each"
    effect = f"Split {names} over {WORDS[count]} registers{' each' if len(group) > 1 else ''}"
    if times > 1:
        effect += f", {times} iterations at once"
    edits: list[Replacement] = [body.in_front(*before), body.edit(items), body.behind(*behind)]
    line = body.sites[group[0].updates[0]].statement.line
    return Proposal(
        effect,
        line,
        tuple(edits),
        times=times,
        brief=f"{WORDS[count]} {counted}",
        count=WORDS[count],
        counted=counted,
        whole=True,
        kinds=("accumulators",),
        caution="; ".join(notes),
    )


def _first(body: Body, each: Accumulator) -> tuple[str, str]:
    """Mnemonic of an accumulator's first update, and the register name in that instruction."""
    instruction = body.templates[each.updates[0]].instruction
    return instruction.mnemonic, instruction.operands[0].register or each.register


def _is_float(mnemonic: str) -> bool:
    """Whether the mnemonic is a floating-point operation; ``vpmaxsd`` is not."""
    return bool(_FLOAT.search(mnemonic)) and not mnemonic.removeprefix("v").startswith("p")


def _named(each: Accumulator, like: str, register: str) -> str:
    """The name of ``register`` (canonical) in the width of ``like``."""
    if is_general_purpose(each.register):
        bits = 64 if like == each.register else 32
        return resized(register, bits)
    return f"{like[0]}MM{register[3:]}"


def _empty(body: Body, each: Accumulator, register: str) -> list[str]:
    """Statements that set a register to the operation's start value."""
    site = body.site
    mnemonic, written = _first(body, each)
    what, kind = operation(mnemonic) or ("", "")
    if what in ("minimum", "maximum", "and", "or"):
        # Applying the original start value again changes nothing.
        name = site.register(_named(each, written, register))
        old = site.register(_named(each, written, each.register))
        if is_general_purpose(each.register):
            return [site.write("mov", name, old)]
        move = "movaps" if _is_float(mnemonic) or not kind else "movdqa"
        return [site.write(f"{'v' if mnemonic.startswith('v') else ''}{move}", name, old)]
    if is_general_purpose(each.register):
        return [site.write("mov", site.register(resized(register, 32)), site.number(0))]
    name = site.register(register)
    clear = "xorps" if _is_float(mnemonic) else "pxor"
    if mnemonic.startswith("v"):
        return [site.write(f"v{clear}", name, name, name)]
    return [site.write(clear, name, name)]


def _sum(body: Body, each: Accumulator, one: str, other: str) -> list[str] | None:
    """The statement that combines two accumulators in the first; None if the operation is not supported."""
    site = body.site
    mnemonic, written = _first(body, each)
    what, kind = operation(mnemonic) or ("", "")
    if what == "product" or (what in ("minimum", "maximum") and _is_float(mnemonic)):
        return None  # no simple start value, or the result depends on the order of NaNs
    if one == "a":
        return []
    vex = "v" if mnemonic.startswith("v") else ""
    name = mnemonic
    if what == "sum":
        name = (
            "add"
            if is_general_purpose(each.register)
            else f"{vex}{'' if _is_float(mnemonic) else 'p'}add{kind}"
        )
    first, second = (site.register(_named(each, written, register)) for register in (one, other))
    return [site.write(name, first, first, second) if vex else site.write(name, first, second)]
