"""Sorts blocks into the six categories of the BHive paper by the work of their uops.

The paper clusters blocks by their port sets and then names the clusters. The limits here are the project's
own, chosen to give the names the same meaning: at least half of a memory block's uops access memory, and a
kind with a share of less than a quarter is not named.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from cyclelens.analyzer.model.units import UopKind
from cyclelens.analyzer.model.uops import InstructionTemplate

CATEGORIES = ("scalar", "vector", "scalar/vector", "load", "store", "load/store")
_MOSTLY_MEMORY = 0.5
_MINOR = 0.25


def category(instructions: Iterable[InstructionTemplate]) -> str:
    """One of ``CATEGORIES``. A block without executed uops is ``scalar``."""
    loads = stores = vectors = scalars = 0
    for instruction in instructions:
        is_vector = uses_vectors(instruction)
        for uop in instruction.uops:
            if uop.kind == UopKind.LOAD:
                loads += 1
            elif uop.kind == UopKind.STORE_ADDRESS:
                stores += 1  # the store-data uop is the same store
            elif uop.kind == UopKind.COMPUTE and is_vector:
                vectors += 1
            elif uop.kind == UopKind.COMPUTE:
                scalars += 1
    memory, compute = loads + stores, vectors + scalars
    if memory and memory >= _MOSTLY_MEMORY * (memory + compute):
        return _named("load", loads, "store", stores)
    return _named("scalar", scalars, "vector", vectors)


def uses_vectors(instruction: InstructionTemplate) -> bool:
    """Whether the instruction uses MMX, XMM, YMM, ZMM or mask registers."""
    operands = instruction.instruction.operands
    return any(
        operand.register is not None
        and ("MM" in operand.register or (operand.register[0] == "K" and operand.register[1:].isdecimal()))
        for operand in operands
    )


def used_units(instructions: Iterable[InstructionTemplate]) -> dict[str, int]:
    """Number of uops by the set of units that may execute them, as reports name it (``p0156``)."""
    found: dict[str, int] = {}
    for instruction in instructions:
        for uop in instruction.uops:
            if uop.units.mask:
                found[uop.units.label] = found.get(uop.units.label, 0) + 1
    return found


def _named(first: str, first_count: int, second: str, second_count: int) -> str:
    total = first_count + second_count
    if second_count < _MINOR * total or not second_count:
        return first
    if first_count < _MINOR * total:
        return second
    return f"{first}/{second}"


def front_end(sources: Mapping[str, float]) -> str:
    """Front-end sources of a block's uops, such as ``DSB`` or ``DSB+MITE``.

    The microcode sequencer always works with another source and is not named."""
    return "+".join(sorted(name for name, uops in sources.items() if uops and name != "MS")) or "none"
