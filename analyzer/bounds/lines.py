"""Bounds of loads of one word and of stores to different lines, in cycles per iteration, as far as addresses
are known (docs/pipeline.md, Z6 and Z5)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from math import ceil, gcd

from cyclelens.analyzer.bounds.symbolic import (
    AddressKey,
    Aliasing,
    SymbolicValues,
    may_be_anywhere,
    step_of,
)
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.units import UopKind
from cyclelens.analyzer.model.uops import Block
from cyclelens.analyzer.uops.values import access_bytes
from msgspec import Struct

_LINE = 64
_WORD = 4
_LOADS_OF_A_WORD = 2
"""Loads of one word that start per cycle."""
_STORES_TO_A_LINE = 2
"""Stores to one line that commit per cycle; a store that fills a line commits alone."""
_SETTLING = 2
"""Iterations until the steps of all addresses are known."""


class _RepeatedAccess(Struct, frozen=True):
    """A load or store of every iteration."""

    origin: AddressKey
    offset: int
    step: int
    """Bytes by which it moves per iteration."""
    size: int

    @property
    def period(self) -> int:
        """Iterations until it is at the same offset in a line again."""
        return _LINE // gcd(_LINE, self.step)


def load_bound(block: Block, microarchitecture: Microarchitecture) -> float:
    """Cycles per iteration: only two loads of a word of four bytes, by its offset in
    a line, start per cycle."""
    if microarchitecture.policies.dispatch_rule != "load_words":
        return 0.0
    loads: defaultdict[Hashable, float] = defaultdict(float)
    for access in _accesses(block, UopKind.LOAD):
        for iteration in range(access.period):
            first = (access.offset + iteration * access.step) % _LINE
            last = first + max(access.size, 1) - 1
            for word in {place // _WORD % (_LINE // _WORD) for place in (*range(first, last, _WORD), last)}:
                loads[access.origin, word] += 1 / access.period
    return max(loads.values(), default=0.0) / _LOADS_OF_A_WORD


def store_bound(block: Block, microarchitecture: Microarchitecture, *, apart: bool = True) -> float:
    """Cycles per iteration: stores commit in order, one per cycle, and a second one if it goes to the same
    line.

    ``apart``: different registers point to different memory; otherwise they may point to one line.
    """
    if microarchitecture.policies.store_commit != "one_line":
        return 0.0
    stores = _accesses(block, UopKind.STORE_DATA)
    if not stores:
        return 0.0
    rounds = max(access.period for access in stores)
    lines = [
        (access.origin, (access.offset + iteration * access.step) // _LINE)
        for iteration in range(2 * rounds)
        for access in stores
    ]
    count = rounds * len(stores)

    def together(place: int) -> bool:
        one, other = lines[place - 1], lines[place]
        if one[0] == other[0]:
            return one[1] == other[1]
        return not apart or may_be_anywhere(one[0]) or may_be_anywhere(other[0])

    border = next((place for place in range(1, count + 1) if not together(place)), None)
    alone = [access.size >= _LINE for access in stores]
    if border is None:  # all stores go to one line
        return sum(1 if each else 1 / _STORES_TO_A_LINE for each in alone)
    cycles = length = 0
    # From one line boundary to the same boundary a period later.
    for place in range(border, border + count):
        length += _STORES_TO_A_LINE if alone[place % len(stores)] else 1
        if place + 1 == border + count or not together(place + 1):
            cycles += ceil(length / _STORES_TO_A_LINE)
            length = 0
    return cycles / rounds


def _accesses(block: Block, kind: UopKind) -> list[_RepeatedAccess]:
    """The loads or the stores of a block, in program order."""
    values = SymbolicValues(Aliasing.DIFFERENT, exact=True)
    rounds: list[list[tuple[AddressKey, int, int]]] = []
    for _ in range(_SETTLING + 1):
        found = []
        for template in block.instructions:
            for uop in template.uops:
                if uop.kind is kind and uop.memory_operand >= 0:
                    access = template.memory_operands[uop.memory_operand]
                    found.append((*values.place(access, template), access_bytes(template, access)))
            values.advance(template, step_of(template, exact=True))
        rounds.append(found)
    return [
        _RepeatedAccess(origin, offset, offset - before if origin == old else 0, size)
        for (origin, offset, size), (old, before, _) in zip(rounds[-1], rounds[-2], strict=True)
    ]
