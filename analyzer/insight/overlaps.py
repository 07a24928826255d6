"""Accesses that meet in memory only if the data say so: what it costs if they do, by simulation.

The model lets two accesses meet where their addresses are the same expression (uiCA model, 4.1). A histogram
adds to another place in every iteration, as far as the text tells; equal places serialise. Two pointers may
overlap. Neither can be read off the code, so both figures are stated.

A core may take over what is stored without waiting for it. Where the registers of the two addresses differ it
has to learn that (M18 of docs/zen5.md), and how often it does is not known: on a Zen 3 a histogram of equal
bytes takes 3.76 cycles, between 1.0 with every increment taken over and 7.0 with none. What is stated there
is the most.
"""

from __future__ import annotations

from collections.abc import Sequence

from cyclelens.analyzer.common.data_classes import replace
from cyclelens.analyzer.insight.addresses import Access
from cyclelens.analyzer.insight.assumptions import listed
from cyclelens.analyzer.insight.runs import Runs
from cyclelens.analyzer.model.result import Assumption
from cyclelens.analyzer.model.uops import Block, MemoryAccess

_APART = frozenset({"RIP", "RSP"})
"""Code and stack are not where other pointers usually point."""
_LEAST = 0.005
"""Cycles per iteration below which figures are the same to two decimals."""

Places = dict[tuple[int, int], Access]
"""Accesses by instruction and operand."""


def overlaps(
    block: Block,
    accessed: Sequence[Sequence[Access]],
    cycles: float,
    runs: Runs,
) -> tuple[Assumption, ...]:
    """What is taken to differ in memory and costs time if it does not. ``accessed``: the block's ``accesses``
    in two iterations; ``cycles``: per iteration as it is."""
    by_data, by_pointer = _unknown(accessed)
    found = []
    learns = runs.microarchitecture.macro_ops is not None and runs.microarchitecture.policies.memory_renaming
    if learns:
        policies = replace(runs.microarchitecture.policies, memory_renaming="")
        runs = replace(runs, microarchitecture=replace(runs.microarchitecture, policies=policies))
    for places, assumption in ((by_data, _same_address), (by_pointer, _no_overlap)):
        if not places:
            continue
        together = runs.cycles(_meeting(block, places))
        if together > cycles + _LEAST:
            found.append(assumption(places, cycles, together, "up to " if learns else ""))
    return tuple(found)


def _unknown(accessed: Sequence[Sequence[Access]]) -> tuple[Places, Places]:
    """Stores and later loads whose addresses differ by nobody knows what: because the data choose a place
    behind one pointer, and because there are two pointers."""
    first, second = accessed
    order = [*first, *second]
    by_data: Places = {}
    by_pointer: Places = {}
    for at, store in enumerate(first):
        if not store.access.written:
            continue
        for load in order[at + 1 :]:
            # What an instruction stores it has loaded before.
            if not load.access.read or (load.instruction == store.instruction and load in first):
                continue
            difference = load.address.plus(store.address, -1)
            if not difference.terms or difference.registers & _APART:
                continue
            kind = by_pointer if difference.registers else by_data
            for each in (store, load):
                kind[each.instruction, each.operand] = each
    return by_data, by_pointer


def _meeting(block: Block, places: Places) -> Block:
    """The block with all of these accesses at one address that never changes. What their address waits for
    stays."""
    templates = list(block.instructions)
    for number in {number for number, _ in places}:
        operands = [
            _here(access) if (number, at) in places else access
            for at, access in enumerate(templates[number].memory_operands)
        ]
        templates[number] = replace(templates[number], memory_operands=tuple(operands))
    return replace(block, entries=tuple(templates))


def _here(access: MemoryAccess) -> MemoryAccess:
    return replace(access, base=None, index=None, scale=None, displacement=0)


def _same_address(places: Places, cycles: float, met: float, most: str) -> Assumption:
    message = (
        "The data decide which address is touched. Where iterations touch the same one, they serialise: "
        f"{most}{met:.2f} cycles per iteration instead of {cycles:.2f}."
    )
    return Assumption("same-address", message, _instructions(places), {"cycles_per_iteration": met})


def _no_overlap(places: Places, cycles: float, met: float, most: str) -> Assumption:
    message = (
        f"Accesses through {listed(_pointers(places))} touch different memory. Where loads read what was "
        f"stored just before, it takes {most}{met:.2f} cycles per iteration instead of {cycles:.2f}."
    )
    return Assumption("no-overlap", message, _instructions(places), {"cycles_per_iteration": met})


def _pointers(places: Places) -> list[str]:
    """The registers that are written through first, then the others, each once."""
    ordered = sorted(places.values(), key=lambda each: not each.access.written)
    return list(dict.fromkeys(_name(each.access) for each in ordered))


def _name(access: MemoryAccess) -> str:
    return (access.base or access.index or "an absolute address").lower()


def _instructions(places: Places) -> tuple[int, ...]:
    return tuple(sorted({instruction for instruction, _ in places}))
