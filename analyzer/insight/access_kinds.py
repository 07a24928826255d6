"""Kinds of loops, most of them with accesses to memory, that took longer than the figure on the core where
they were measured (COMPILED_LOOPS of ``loop_caveats``)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from cyclelens.analyzer.insight.loop_features import (
    AT_ONCE,
    COUNTER,
    DEPENDENT,
    GROUP,
    Difference,
    is_vector,
    named,
    operations,
    waits,
)
from cyclelens.analyzer.microarchitectures import loop_caveats
from cyclelens.analyzer.model.result import Prediction
from cyclelens.analyzer.model.units import UopKind
from cyclelens.analyzer.model.uops import InstructionTemplate, Trait
from cyclelens.analyzer.uops.values import access_bytes

_BUSY = 0.8
"""Share of the figure for which ALUs or the dispatch are busy from which loops took longer."""
_FULL = 0.9
"""The same of the vector pipes."""
_EIGHTHS = 8
_LINE = 64
"""Bytes of a cache line."""
_HALF_LINE = 32
_ACCESSES_AT_ONCE = 3
_VECTOR_LOADS_AT_ONCE = 2
_SHORTEST = 1.05
"""Cycles of a loop whose accesses wait for the loop's branch only."""
_FEW_CYCLES = 1.6
_SEVERAL = 3
"""Vector instructions of a loop of so few cycles that was seen to wait."""
_WIDE_STORES = re.compile(r"vmov(ap|up)[sd]|vmovdq[au](8|16|32|64)?")


def of_loop(prediction: Prediction) -> Iterator[Difference]:
    """The kinds that a loop belongs to."""
    for kind in _KINDS:
        yield from kind(prediction)


def _counted_loads(prediction: Prediction) -> Iterator[Difference]:
    """Operations of integers on words that are loaded from an address which the loop counts, while the ALUs
    or the dispatch are busy, or in a loop of one cycle whose branch takes an ALU."""
    instructions, figure = prediction.instructions, prediction.cycles_per_iteration
    if any(map(is_vector, instructions)) or waits(prediction):
        return
    counters, loaded = _counters(instructions), set[str]()
    found = []
    for i, each in enumerate(instructions):
        loads = _counted(each, counters)
        if operations(each) and (loads or loaded & {r.canonical for r in each.register_inputs}):
            found.append(i)
        outputs = {r.canonical for r in each.register_outputs}
        loaded = loaded | outputs if loads else loaded - outputs
    busy = max(
        sum(map(operations, instructions)) / AT_ONCE,
        sum(each.retire_slots for each in instructions) / GROUP,
    )
    end = instructions[-2] if instructions[-1].fused_with_previous else instructions[-1]
    if found and (busy >= _BUSY * figure if figure > COUNTER else operations(end)):
        kind = "whose operations of integers read what is loaded from a counted address"
        yield Difference(tuple(found), kind, loop_caveats.COUNTED_LOAD_SHARE * figure)


def _counters(instructions: Sequence[InstructionTemplate]) -> set[str]:
    """Registers that the loop only counts up or down: what writes them reads them, and no memory."""
    written, others = set[str](), set[str]()
    for each in instructions:
        read = {r.canonical for r in each.register_inputs}
        outputs = {r.canonical for r in each.register_outputs}
        written |= outputs
        others |= outputs if each.memory_operands else outputs - read
    return written - others


def _full_pipes(prediction: Prediction) -> Iterator[Difference]:
    """Vector operations that occupy all pipes, some on results of others: independent ones take turns."""
    figure = prediction.cycles_per_iteration
    vectors = [(i, each) for i, each in enumerate(prediction.instructions) if is_vector(each)]
    busy = sum(
        max(1.0, uop.busy_eighths / _EIGHTHS)
        for _, each in vectors
        for uop in each.uops
        if uop.kind is UopKind.COMPUTE and uop.units.mask
    )
    read = {register.canonical for _, each in vectors for register in each.register_inputs}
    made = {register.canonical for _, each in vectors for register in each.register_outputs}
    if read & made and busy >= _FULL * AT_ONCE * figure:
        kind = "with vector operations that occupy all pipes"
        yield Difference(tuple(i for i, _ in vectors), kind, loop_caveats.FULL_PIPES_SHARE * figure)


def _counted_accesses(prediction: Prediction) -> Iterator[Difference]:
    """Accesses that occupy all units, some of them at an address that the loop counts."""
    instructions, figure = prediction.instructions, prediction.cycles_per_iteration
    counters = _counters(instructions)
    accesses = [(i, access) for i, each in enumerate(instructions) for access in each.memory_operands]
    counted = any(counters & {access.base, access.index} for _, access in accesses)
    full = len(accesses) >= DEPENDENT * _ACCESSES_AT_ONCE * figure > _SHORTEST * _ACCESSES_AT_ONCE
    if counted and full and not waits(prediction):
        found = tuple(dict.fromkeys(i for i, _ in accesses))
        kind = "with accesses at counted addresses that occupy all units"
        yield Difference(found, kind, loop_caveats.COUNTED_ACCESS_SHARE * figure)


def _vector_streams(prediction: Prediction) -> Iterator[Difference]:
    """Loads of 256 bits and more at counted addresses, as many per cycle as there can be."""
    instructions, figure = prediction.instructions, prediction.cycles_per_iteration
    counters = _counters(instructions)
    loads = [
        i
        for i, each in enumerate(instructions)
        if _counted(each, counters)
        and any(access_bytes(each, access) >= _HALF_LINE for access in each.memory_operands)
    ]
    if len(loads) >= _FULL * _VECTOR_LOADS_AT_ONCE * figure > _SHORTEST and not waits(prediction):
        kind = "that walk through memory by two loads of 256 bits per cycle"
        yield Difference(tuple(loads), kind, loop_caveats.VECTOR_STREAM_SHARE * figure)


def _across_lines(prediction: Prediction) -> Iterator[Difference]:
    """Loads of 512 bits at displacements that are no multiples of their size."""
    found = [
        i
        for i, each in enumerate(prediction.instructions)
        if any(uop.kind is UopKind.LOAD and uop.traits & Trait.WIDE for uop in each.uops)
        and any(access.read and (access.displacement or 0) % _LINE for access in each.memory_operands)
    ]
    if found and not waits(prediction):
        more = loop_caveats.LINE_CYCLES * len(found)
        yield Difference(tuple(found), "with loads of 512 bits across lines", more)


def _popped_among_accesses(prediction: Prediction) -> Iterator[Difference]:
    """PUSH and POP among accesses that occupy all units."""
    instructions, figure = prediction.instructions, prediction.cycles_per_iteration
    pushes, pops = (named(instructions, re.compile(name)) for name in ("push", "pop"))
    accesses = sum(len(each.memory_operands) for each in instructions)
    full = accesses >= DEPENDENT * _ACCESSES_AT_ONCE * figure > _SHORTEST * _ACCESSES_AT_ONCE
    if pushes and pops and full:
        kind = "with PUSH and POP among accesses that occupy all units"
        yield Difference((*pushes, *pops), kind, loop_caveats.POPPED_CYCLES * len(pops))


def _wide_stores_across_lines(prediction: Prediction) -> Iterator[Difference]:
    """Stores of 512 bits that are not aligned: each takes two places once the store buffer is full."""
    instructions = prediction.instructions
    stores = [i for i, each in enumerate(instructions) for a in each.memory_operands if a.written]
    found = [
        i
        for i in stores
        if _WIDE_STORES.fullmatch(instructions[i].instruction.mnemonic)
        and any(
            (operand.register or "").startswith("ZMM") for operand in instructions[i].instruction.operands
        )
        and any((access.displacement or 0) % _LINE for access in instructions[i].memory_operands)
    ]
    more = 1 + len(found) + len(stores) - prediction.cycles_per_iteration
    if found and more > 0:
        yield Difference(tuple(found), "with stores of 512 bits across lines", more)


def _short_and_wide(prediction: Prediction) -> Iterator[Difference]:
    """An operation of 512 bits among others in a short loop."""
    vectors = [(i, each) for i, each in enumerate(prediction.instructions) if is_vector(each)]
    found = tuple(
        i
        for i, each in vectors
        if any((operand.register or "").startswith("ZMM") for operand in each.instruction.operands)
    )
    several = _SEVERAL <= len(vectors) > len(found)
    if found and several and prediction.cycles_per_iteration <= _FEW_CYCLES:
        kind = "of few cycles with vectors of 512 bits among others"
        yield Difference(found, kind, loop_caveats.SHORT_AND_WIDE_CYCLES)


def _wide_on_own_results(prediction: Prediction) -> Iterator[Difference]:
    """An operation of 512 bits on its own result each cycle that some pipe lacks, or on counted words."""
    instructions = prediction.instructions
    counters = _counters(instructions)
    found = tuple(
        i
        for i, each in enumerate(instructions)
        if any(
            uop.kind is UopKind.COMPUTE
            and uop.busy_eighths > _EIGHTHS
            and (uop.units.mask.bit_count() < AT_ONCE or _counted(each, counters))
            for uop in each.uops
        )
        and {r.canonical for r in each.register_inputs} & {r.canonical for r in each.register_outputs}
    )
    if found and prediction.cycles_per_iteration <= _SHORTEST:
        kind = "of a cycle with vectors of 512 bits on their own results"
        yield Difference(found, kind, loop_caveats.WIDE_CHAIN_CYCLES)


def _counted(template: InstructionTemplate, counters: set[str]) -> bool:
    return any(access.read and counters & {access.base, access.index} for access in template.memory_operands)


_KINDS: tuple[Callable[[Prediction], Iterator[Difference]], ...] = (
    _counted_loads,
    _counted_accesses,
    _vector_streams,
    _full_pipes,
    _across_lines,
    _popped_among_accesses,
    _wide_stores_across_lines,
    _short_and_wide,
    _wide_on_own_results,
)
