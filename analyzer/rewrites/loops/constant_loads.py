"""Hoists a load of the same word in every iteration out of the loop.

                                      vmovups (%rdx), %ymm5
.L: vmulps (%rdx), %ymm1, %ymm1  ->   .L: vmulps %ymm5, %ymm1, %ymm1
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cyclelens.analyzer.model.instruction import DecodedOperand, OperandKind
from cyclelens.analyzer.rewrites.loops.body import Body, Item, replaced_memory
from cyclelens.analyzer.rewrites.proposal import Proposal
from cyclelens.analyzer.rewrites.site import resized
from cyclelens.analyzer.uops.registers import canonical, is_general_purpose

_LOADS = re.compile(r"mov|mov[sz]x|movsxd|v?mov(up|ap|s)[sd]|v?movdq[au]|vp?broadcast(s[sd]|[bwdq]|[fi]128)")


def propose(body: Body) -> Iterator[Proposal]:
    """Propose hoisting all invariant loads together, and each alone."""
    if body.site.has_other_entries:
        return
    found = [index for index in range(body.last) if _invariant(body, index)]
    groups = [found, *([index] for index in found)] if len(found) > 1 else [found] if found else []
    for group in groups[:5]:
        proposal = _proposal(body, group)
        if proposal is not None:
            yield proposal


def _memory(body: Body, index: int) -> DecodedOperand | None:
    operands = body.templates[index].instruction.operands
    return next((each for each in operands if each.kind is OperandKind.MEMORY), None)


def _invariant(body: Body, index: int) -> bool:
    """Whether an instruction reads the same address in each iteration and writes no memory."""
    template, operand = body.templates[index], _memory(body, index)
    if (
        operand is None
        or not template.memory_operands
        or any(each.written for each in template.memory_operands)
    ):
        return False
    if not all(each.read for each in template.memory_operands) or len(template.memory_operands) != 1:
        return False
    written = set[str]().union(*(body.written(other) for other in range(len(body.templates))))
    named = [canonical(name) for name in (operand.base, operand.index) if name]
    return "RSP" not in named and written.isdisjoint(named) and not template.instruction.broadcast


def _proposal(body: Body, group: list[int]) -> Proposal | None:
    items = body.items
    before: list[str] = []
    taken: set[str] = set()
    gone: set[int] = set()
    for index in group:
        template, own = body.templates[index], body.sites[index]
        target = template.instruction.operands[0]
        if _LOADS.fullmatch(template.instruction.mnemonic) and target.register and _only_writer(body, index):
            before.append(own.statement.text)
            gone.add(index)
            continue
        load = _load(body, index, taken)
        if load is None:
            return None
        statement, text = load
        before.append(statement)
        items[index] = Item(index, text)
    if len(body.templates) - len(gone) < 2:
        return None
    stores = any(each.written for template in body.templates for each in template.memory_operands)
    words = "word that never changes" if len(group) == 1 else "words that never change"
    return Proposal(
        f"Load the {words} in front of the loop",
        body.sites[group[0]].statement.line,
        (
            body.in_front(*before),
            body.edit([item for item in items if item.origin not in gone]),
        ),
        brief=f"{len(group)} load{'s' if len(group) > 1 else ''} in front",
        whole=True,
        kinds=("constant loads",),
        caution="if no store of the loop changes it" if stores else "",
    )


def _only_writer(body: Body, index: int) -> bool:
    """Whether no other instruction writes the loaded register, and none reads it earlier in the loop."""
    own = body.written(index)
    others = [other for other in range(len(body.templates)) if other != index]
    if any(own & body.written(other) for other in others) or len(own) != 1:
        return False
    return not any(own & body.touched(other) for other in others if other < index)


def _load(body: Body, index: int, taken: set[str]) -> tuple[str, str] | None:
    """A load into a free register, and the instruction that uses it; None if that is not possible."""
    own, template = body.sites[index], body.templates[index]
    memory = own.memory()
    names = [each.register for each in template.instruction.operands if each.register]
    if memory is None or not names:
        return None
    like, mnemonic = names[0], template.instruction.mnemonic
    free = [name for name in body.free(canonical(like)) if name not in taken]
    width = (
        next((each.width for each in template.facts.operands if each.kind == "mem"), 0)
        if template.facts
        else 0
    )
    if not free or not width:
        return None
    register = free[0]
    if is_general_purpose(canonical(like)):
        if width not in (32, 64):
            return None
        name = own.register(resized(register, width))
        statement = own.write("mov", name, memory[0])
    else:
        letter = {128: "X", 256: "Y", 512: "Z"}.get(width)
        scalar = {32: "movss", 64: "movsd"}.get(width) if mnemonic.endswith(("ss", "sd")) else None
        if letter is None and scalar is None:
            return None
        name = own.register(f"{letter or 'X'}MM{register[3:]}")
        move = scalar or ("movups" if mnemonic.endswith(("ps", "pd")) else "movdqu")
        statement = own.write(f"{'v' if mnemonic.startswith('v') else ''}{move}", name, memory[0])
    text = replaced_memory(own, name)
    if text is None:
        return None
    taken.add(register)
    return statement, text
