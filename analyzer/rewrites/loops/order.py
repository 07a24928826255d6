"""Reorders a loop's statements: those on the longest chain come first.

Dependences through registers, flags and memory keep their order. Two memory accesses of which one writes may
be exchanged only if both addresses use the same registers and do not overlap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from cyclelens.analyzer.insight.addresses import Access, accesses
from cyclelens.analyzer.model.uops import InstructionTemplate
from cyclelens.analyzer.rewrites.loops.body import Body
from cyclelens.analyzer.rewrites.proposal import Proposal

_WIDEST = 64
"""Bytes; accesses whose width is not known are taken to be this wide."""
_VECTORS = {"XMM": 16, "YMM": 32, "ZMM": 64}
Graph = Sequence[set[int]]
"""For each instruction, the set of instructions that must precede it."""


def propose(body: Body) -> Iterator[Proposal]:
    """Propose several orders, of which the best is offered."""
    before = must_precede(body)
    heights = _heights(body, before)
    original = list(range(len(before)))
    loads = [bool(each.memory_operands) and not each.register_inputs for each in body.templates]
    rules: tuple[Callable[[int], tuple[float, ...]], ...] = (
        lambda index: (-heights[index], index),
        lambda index: (not loads[index], -heights[index], index),
        lambda index: (loads[index], -heights[index], index),
        lambda index: (heights[index], index),
    )
    seen = [original]
    for rule in rules:
        order = _ordered(body, before, rule)
        if order in seen:
            continue
        seen.append(order)
        items = body.items
        yield Proposal(
            "Put the statements in another order",
            body.site.statement.line,
            (body.edit([items[index] for index in order]),),
            brief="another order",
            whole=True,
            kinds=("order",),
        )


def must_precede(body: Body) -> Graph:
    """The instructions that must precede each one."""
    templates = body.templates
    before: list[set[int]] = [set() for _ in templates]
    known, _ = accesses(templates)
    by_instruction: dict[int, list[Access]] = {}
    for access in known:
        by_instruction.setdefault(access.instruction, []).append(access)
    reads = [_reads(body, index) for index in range(len(templates))]
    writes = [body.written(index) for index in range(len(templates))]
    for later in range(len(templates)):
        for earlier in range(later):
            if (
                writes[earlier] & (reads[later] | writes[later])
                or reads[earlier] & writes[later]
                or _meet(templates, by_instruction, earlier, later)
            ):
                before[later].add(earlier)
    for index, template in enumerate(templates):
        _order_flags(templates, before, index, template)
    # The jump stays last, directly after the instruction that fuses with it.
    before[-1].update(range(len(templates) - 1))
    if templates[-1].fused_with_previous:
        before[-2].update(range(len(templates) - 2))
        before[-2].discard(len(templates) - 1)
    return before


def _reads(body: Body, index: int) -> set[str]:
    """Registers that an instruction reads, including results that it writes only in part."""
    template = body.templates[index]
    partly = {each.canonical for each in template.register_outputs if 0 < each.width < 32}
    read = {each.canonical for each in (*template.register_inputs, *template.address_inputs)}
    return read | partly | (body.touched(index) - body.written(index))


def _order_flags(
    templates: Sequence[InstructionTemplate],
    before: Sequence[set[int]],
    reader: int,
    template: InstructionTemplate,
) -> None:
    """Keep a reader of flags after their writer, with no other writer in between."""
    for flag in template.flag_inputs:
        writers = [
            index for index, each in enumerate(templates) if flag in each.flag_outputs and index != reader
        ]
        earlier = [index for index in writers if index < reader]
        for index in writers:
            if index > reader:
                before[index].add(reader)
        if earlier:
            before[reader].add(earlier[-1])
            before[earlier[-1]].update(earlier[:-1])
        if flag in template.flag_outputs:
            before[reader].update(earlier)
    # Flags that the next iteration or code after the loop may read keep their last writer.
    for flag in template.flag_outputs:
        if not any(flag in each.flag_outputs for each in templates[reader + 1 :]):
            before[reader].update(index for index in range(reader) if flag in templates[index].flag_outputs)


def _meet(
    templates: Sequence[InstructionTemplate], known: dict[int, list[Access]], earlier: int, later: int
) -> bool:
    first, second = templates[earlier].memory_operands, templates[later].memory_operands
    if not first or not second or not any(access.written for access in (*first, *second)):
        return False
    for one in known.get(earlier, ()):
        for other in known.get(later, ()):
            if not (one.access.written or other.access.written):
                continue
            apart = other.address.plus(one.address, -1)
            if apart.terms or -_bytes(templates[later]) < apart.constant < _bytes(templates[earlier]):
                return True
    return len(known.get(earlier, ())) != len(first) or len(known.get(later, ())) != len(second)


def _bytes(template: InstructionTemplate) -> int:
    """Upper bound of the instruction's access width in bytes."""
    operands = template.facts.operands if template.facts else ()
    bits = max((operand.width for operand in operands if operand.kind == "mem"), default=0)
    named = [_VECTORS.get((each.register or "")[:3], 0) for each in template.instruction.operands]
    return max([bits // 8, *named]) or _WIDEST


def _heights(body: Body, before: Graph) -> list[float]:
    """Longest latency chain, in cycles, from each instruction to the end of the iteration."""
    heights = [0.0] * len(before)
    for index in range(len(before) - 1, -1, -1):
        latencies = body.templates[index].latencies.values()
        heights[index] += max(latencies, default=1)
        for other in before[index]:
            heights[other] = max(heights[other], heights[index])
    return heights


def _ordered(body: Body, before: Graph, rule: Callable[[int], tuple[float, ...]]) -> list[int]:
    """Topological order that always takes the ready instruction with the lowest key under ``rule``."""
    left, order = set(range(len(before))), list[int]()
    while left:
        ready = [index for index in left if not before[index] & left]
        order.append(min(ready, key=rule))
        left.discard(order[-1])
    return order
