"""Simulates the cost of accesses that alias only for some data.

In the model, two accesses alias if their addresses are the same expression (uiCA model, 4.1). By its text, a
histogram updates a different address in every iteration; equal addresses serialise. Two pointers may overlap.
The code shows neither, so both figures are given.

A core may forward a stored value by renaming. If the registers of the two addresses differ, it has to learn
the pair (M18 of docs/zen5.md), and how often it succeeds is not known: on Zen 3, a histogram of equal bytes
takes 3.76 cycles, between 1.0 with every increment forwarded and 7.0 with none. The larger figure is given in
that case.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile

from cyclelens.analyzer.insight.addresses import Access
from cyclelens.analyzer.insight.hazards.page_aliasing import happens
from cyclelens.analyzer.insight.runs import Runs
from cyclelens.analyzer.model.result import Assumption
from cyclelens.analyzer.model.uops import Block, MemoryAccess
from cyclelens.analyzer.uops.left_out import listed
from msgspec.structs import replace

_APART = frozenset({"RIP", "RSP"})
"""Other pointers usually do not point to code or stack."""
_ALIASING = (
    "The distance of the pointers is not known: where the lower 12 bits of the addresses are the same "
    "(4K aliasing), loads may wait, too. The figure does not include that."
)
_LEAST = 0.005
"""Smaller differences, in cycles per iteration, vanish in figures of two decimals."""

Places = dict[tuple[int, int], Access]
"""(instruction, operand) -> access."""


def overlaps(
    block: Block,
    accessed: Sequence[Sequence[Access]],
    cycles: float,
    runs: Runs,
) -> tuple[Assumption, ...]:
    """Aliasing that is assumed not to happen and would cost time.

    ``accessed``: the block's ``accesses`` in two iterations; ``cycles``: per iteration without aliasing.
    """
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
            if places is by_pointer and happens(runs.microarchitecture):
                found[-1] = replace(found[-1], message=f"{found[-1].message} {_ALIASING}")
    return tuple(found)


def _unknown(accessed: Sequence[Sequence[Access]]) -> tuple[Places, Places]:
    """Stores and later loads at an unknown distance: because the data choose an offset from one pointer, or
    because there are two pointers."""
    first, second = accessed
    order = [*first, *second]
    stores = _by_terms((at, each) for at, each in enumerate(first) if each.access.written)
    loads = _by_terms((at, each) for at, each in enumerate(order) if each.access.read)

    def follows(load: int, store: int) -> bool:
        """An instruction loads before it stores."""
        known = first[load - len(first)] == order[load] if load >= len(first) else True
        return store < load and not (known and order[load].instruction == order[store].instruction)

    found: tuple[dict[int, tuple[int, int]], dict[int, tuple[int, int]]] = {}, {}
    """Accesses by data and by pointer, each with the first store that it meets."""
    for store_places in stores.values():
        for load_places in loads.values():
            # Equal terms have equal differences: pairs of accesses would be many.
            difference = order[load_places[0]].address.plus(order[store_places[0]].address, -1)
            if not difference.terms or difference.registers & _APART:
                continue
            met = found[bool(difference.registers)]
            for load in load_places:
                before = takewhile(load.__gt__, store_places)
                if (store := next((each for each in before if follows(load, each)), None)) is not None:
                    met[load] = min(met.get(load, (store, load)), (store, load))
            for store in store_places:
                behind = takewhile(store.__lt__, reversed(load_places))
                if any(follows(each, store) for each in behind):
                    met[store] = min(met.get(store, (store, -1)), (store, -1))
    by_data, by_pointer = (
        {(order[at].instruction, order[at].operand): order[at] for at in sorted(met, key=met.__getitem__)}
        for met in found
    )
    return by_data, by_pointer


def _by_terms(accesses: Iterable[tuple[int, Access]]) -> dict[frozenset[tuple[str | int, int]], list[int]]:
    """Places of accesses, by the terms of their addresses."""
    found: dict[frozenset[tuple[str | int, int]], list[int]] = {}
    for at, each in accesses:
        found.setdefault(frozenset(each.address.terms.items()), []).append(at)
    return found


def _meeting(block: Block, places: Places) -> Block:
    """The block with all these accesses at one constant address; what their address
    computation waits for stays."""
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
    """Pointer registers, those written through first, each once."""
    ordered = sorted(places.values(), key=lambda each: not each.access.written)
    return list(dict.fromkeys(_name(each.access) for each in ordered))


def _name(access: MemoryAccess) -> str:
    return (access.base or access.index or "an absolute address").lower()


def _instructions(places: Places) -> tuple[int, ...]:
    return tuple(sorted({instruction for instruction, _ in places}))
