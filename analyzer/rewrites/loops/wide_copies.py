"""Widens copies of 16 bytes to 32 bytes with AVX.

movups (%rsi), %xmm0           vmovups (%rsi), %ymm0
movups %xmm0, (%rdi)     ->    vmovups %ymm0, (%rdi)
add $16, %rsi                  add $32, %rsi
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cyclelens.analyzer.insight.loop_steps import Steps
from cyclelens.analyzer.model.instruction import OperandKind
from cyclelens.analyzer.rewrites.loops.body import Body, Item, moved
from cyclelens.analyzer.rewrites.loops.steps import stepped, steps_of
from cyclelens.analyzer.rewrites.proposal import Proposal
from cyclelens.analyzer.rewrites.site import Site
from cyclelens.analyzer.uops.registers import is_general_purpose

_MOVES = {
    "movups": "vmovups",
    "movaps": "vmovups",
    "movupd": "vmovupd",
    "movapd": "vmovupd",
    "movdqu": "vmovdqu",
    "movdqa": "vmovdqu",
    "lddqu": "vlddqu",
}
_OLD_BYTES, _TIMES = 16, 2


def propose(body: Body) -> Iterator[Proposal]:
    """Propose wider copies if the loop does nothing but copy."""
    found = steps_of(body)
    if found is None:
        return
    items: list[Item] = []
    offsets: dict[tuple[str | None, str | None], list[int]] = {}
    for index, site in enumerate(body.sites[:-1]):
        step = found.at(index)
        if step is not None:
            items.append(Item(index, stepped(site, step, _TIMES)))
        elif index == found.comparison:
            items.append(Item(index, site.statement.text))
        else:
            text = _wide(body, found, index, offsets)
            if text is None:
                return
            items.append(Item(index, text))
    if not offsets or not all(_together(body, found, place, own) for place, own in offsets.items()):
        return
    items.append(Item(body.last, body.sites[-1].statement.text))
    edits = [body.edit(items)]
    around = body.words_around
    if not any(word.startswith(("ymm", "zmm", "vzero")) for word in around):
        edits.append(body.behind("vzeroupper"))
    notes = f"for a multiple of {_TIMES} iterations; needs AVX; source and destination must not overlap"
    yield Proposal(
        "Copy 32 bytes at a time",
        body.site.statement.line,
        tuple(edits),
        times=_TIMES,
        brief="256-bit copies",
        whole=True,
        kinds=("wide copies",),
        caution=notes,
    )


def _wide(
    body: Body, found: Steps, index: int, offsets: dict[tuple[str | None, str | None], list[int]]
) -> str | None:
    """The load or store of a copy at twice the width; None for any other instruction.

    Adds its displacement to ``offsets``."""
    template, site = body.templates[index], body.sites[index]
    instruction = template.instruction
    name = instruction.mnemonic
    wide = _MOVES.get(name) or (name if name in _MOVES.values() else _MOVES.get(name.removeprefix("v")))
    memory = [each for each in instruction.operands if each.kind is OperandKind.MEMORY]
    registers = [each.register or "" for each in instruction.operands if each.kind is OperandKind.REGISTER]
    if wide is None or len(memory) != 1 or len(registers) != 1 or not registers[0].startswith("XMM"):
        return None
    if int(registers[0][3:]) > 15 or instruction.mask:
        return None
    operand = memory[0]
    moving = [r for r in (operand.base, operand.index) if r and r in found.steps]
    if not moving or any(found.steps[r].index < index for r in moving):
        return None
    offsets.setdefault((operand.base, operand.index), []).append(operand.displacement)
    # Double the distance from the first access.
    first = min(
        other.displacement
        for each in body.templates
        for other in each.instruction.operands
        if other.kind is OperandKind.MEMORY and (other.base, other.index) == (operand.base, operand.index)
    )
    text = moved(site, operand.displacement - first)
    if text is None:
        return None
    return _in_columns(site, wide, re.sub(r"\bxmm(\d+)\b", r"ymm\1", text, flags=re.IGNORECASE))


def _in_columns(site: Site, mnemonic: str, text: str) -> str:
    match = re.match(r"\S+(\s+)", text)
    if match is None:
        return text
    rest = re.sub(r"\bxmmword\b", "ymmword", text[match.end() :], flags=re.IGNORECASE)
    rest = re.sub(r"\boword\b", "yword", rest, flags=re.IGNORECASE)
    width = match.end()
    return f"{mnemonic} ".ljust(width) + rest if "\t" not in match[1] else f"{mnemonic}{match[1]}{rest}"


def _together(body: Body, found: Steps, place: tuple[str | None, str | None], own: list[int]) -> bool:
    """Whether the accesses of one pointer cover each byte of its step exactly once."""
    amount = 0
    scales = {
        (operand.base, operand.index): operand.scale
        for each in body.templates
        for operand in each.instruction.operands
        if operand.kind is OperandKind.MEMORY
    }
    for register, scale in ((place[0], 1), (place[1], scales.get(place, 1))):
        if register and register in found.steps:
            amount += found.steps[register].amount * scale
    stored = sorted(set(own))
    return (
        len(stored) == len(own)
        and amount == _OLD_BYTES * len(own)
        and stored == [stored[0] + _OLD_BYTES * number for number in range(len(own))]
        and not any(is_general_purpose(r or "") is False for r in place if r)
    )
