"""Gives addresses with an index register a pointer of their own, which advances separately.

                                     lea (%rdi,%rcx,8), %r11
.L: mov %rax, (%rdi,%rcx,8)    ->    .L: mov %rax, (%r11)
    inc %rcx                             add $8, %r11
                                         inc %rcx
"""

from __future__ import annotations

from collections.abc import Iterator

from cyclelens.analyzer.insight.loop_steps import Steps
from cyclelens.analyzer.model.instruction import DecodedOperand, OperandKind
from cyclelens.analyzer.rewrites.loops.body import Body, Item, replaced_memory
from cyclelens.analyzer.rewrites.loops.steps import steps_of
from cyclelens.analyzer.rewrites.proposal import Proposal


def propose(body: Body) -> Iterator[Proposal]:
    """Propose pointers for the addresses of stores, and for all addresses."""
    found = steps_of(body)
    if found is None or body.site.has_other_entries:
        return
    addresses: dict[tuple[str | None, str | None, int], list[int]] = {}
    stored: set[tuple[str | None, str | None, int]] = set()
    for index, template in enumerate(body.templates[:-1]):
        for operand in template.instruction.operands:
            if operand.kind is OperandKind.MEMORY and operand.index and _distance(found, operand):
                key = operand.base, operand.index, operand.scale
                addresses.setdefault(key, []).append(index)
                if any(access.written for access in template.memory_operands):
                    stored.add(key)
    groups = [[key for key in addresses if key in stored], list(addresses)]
    for number, group in enumerate(groups):
        if group and (number == 0 or group != groups[0]):
            proposal = _proposal(body, found, {key: addresses[key] for key in group}, only_stores=number == 0)
            if proposal is not None:
                yield proposal


def _distance(found: Steps, operand: DecodedOperand) -> int:
    """Bytes per iteration by which an address advances; 0 if unknown."""
    total = 0
    for register, scale in ((operand.base, 1), (operand.index, operand.scale)):
        step = found.steps.get(register or "")
        total += step.amount * scale if step else 0
    return total


def _proposal(
    body: Body,
    found: Steps,
    addresses: dict[tuple[str | None, str | None, int], list[int]],
    *,
    only_stores: bool,
) -> Proposal | None:
    free = body.free("RAX")
    if len(free) < len(addresses):
        return None
    site, items = body.site, body.items
    before: list[str] = []
    steps: list[tuple[int, Item]] = []
    for (base, index_register, _), places in addresses.items():
        pointer = free.pop(0)
        operand = next(
            each for each in body.templates[places[0]].instruction.operands if each.kind is OperandKind.MEMORY
        )
        # The steps of the old registers must come behind, or before, all its uses.
        moving = [found.steps[r].index for r in (base, index_register) if r and r in found.steps]
        if not (all(place < min(moving) for place in places) or all(place > max(moving) for place in places)):
            return None
        amount = _distance(found, operand)
        start = amount if places[0] > max(moving) else 0
        before.append(site.write("lea", site.register(pointer), site.address(operand, start)))
        for place in places:
            own = next(
                each for each in body.templates[place].instruction.operands if each.kind is OperandKind.MEMORY
            )
            text = replaced_memory(body.sites[place], site.address(_plain(pointer, own), own.displacement))
            if text is None:
                return None
            items[place] = Item(place, text)
        name = "sub" if amount < 0 else "add"
        statement = site.write(name, site.register(pointer), site.number(abs(amount)))
        steps.append((places[-1], Item(places[-1], statement)))
    if not _flags_are_free(body, [place for place, _ in steps]):
        return None
    for place, item in sorted(steps, key=lambda each: each[0], reverse=True):
        items.insert(place + 1, item)
    count = len(addresses)
    what = "stores" if only_stores else "addresses"
    return Proposal(
        f"Give the {what} with an index {'a pointer' if count == 1 else 'pointers'} of their own",
        body.sites[next(iter(addresses.values()))[0]].statement.line,
        (body.in_front(*before), body.edit(items)),
        brief=f"{'a pointer' if count == 1 else f'{count} pointers'} without index",
        count="" if count == 1 else str(count),
        counted="" if count == 1 else "pointers without index",
        whole=True,
        kinds=("own pointers",),
    )


def _plain(pointer: str, operand: DecodedOperand) -> DecodedOperand:
    return DecodedOperand(OperandKind.MEMORY, base=pointer, displacement=operand.displacement)


def _flags_are_free(body: Body, places: list[int]) -> bool:
    """Whether no flags are live at the places after which an addition is inserted."""
    for place in places:
        alive: set[str] = {"C", "SPAZO"}
        for template in body.templates[place + 1 :]:
            if alive.intersection(template.flag_inputs):
                return False
            alive.difference_update(template.flag_outputs)
            if not alive:
                break
    return True
