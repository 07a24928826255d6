"""Blocks that a run cannot tell from each other: their figure is found once.

A run on Intel's cores knows registers by their class and by who wrote them last; RSP alone has a name, because
the stack engine writes it. So blocks whose instructions have equal rows (``flat``) run alike if their registers
differ by name only. Addresses say nothing but which loads meet which stores: without a store they do not count.
"""

from __future__ import annotations

from array import array
from itertools import count
from typing import NamedTuple

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.options import PUBLISHED, ModelOptions
from cyclelens.analyzer.model.uops import Block
from cyclelens.analyzer.recent import Caches
from cyclelens.analyzer.simulator.tables.flat import KEYS, FlatInstruction, flatten

_MOST_KEPT = 1 << 15
"""Kinds of instructions, and figures."""
_RSP = KEYS.register("RSP")


class _Part(NamedTuple):
    """What an instruction adds to what a run depends on."""

    owner: Alike
    kind: int
    """The same for instructions that differ in registers and addresses only."""
    keys: tuple[int, ...]
    """Its registers and flags."""
    addresses: tuple[int, ...]
    """Where it loads and stores, and by how much it moves a pointer."""


class _Numbers(dict[int, int]):
    """Registers and flags, numbered as they come up."""

    def __missing__(self, key: int) -> int:
        self[key] = number = len(self)
        return number


class Alike:
    """Figures of one core as published, by what its runs depend on."""

    def __init__(self, _caches: Caches) -> None:
        self._core: Microarchitecture | None = None
        self._kinds: dict[tuple[bytes, str], int] = {}
        self._numbers = count()
        self.figures: dict[bytes, float] = {}

    def key(self, block: Block, microarchitecture: Microarchitecture, options: ModelOptions) -> bytes:
        """All that the block's figure depends on; empty where registers or addresses are more than names."""
        if options != PUBLISHED or microarchitecture.macro_ops is not None or microarchitecture.tracks_values:
            return b""
        if microarchitecture is not self._core or len(self.figures) >= _MOST_KEPT:
            self._core = microarchitecture
            self.figures.clear()
        numbers = _Numbers({_RSP: 0})
        described = [block.loop, block.alignment]
        addresses: list[int] = []
        stores = False
        for entry in block.entries:
            flat = flatten(entry)
            part = flat.part
            if part is None or part.owner is not self:
                part = flat.part = self._part(flat)
            if flat.merges:
                return b""  # the rows name what is merged
            described.append(part.kind)
            described += [numbers[key] for key in part.keys]
            addresses += part.addresses
            stores = stores or flat.stores
        if stores:
            described += addresses
        return array("q", described).tobytes()

    def _part(self, flat: FlatInstruction) -> _Part:
        rows, keys, addresses = flat.without_names()
        kind = self._kinds.get((rows, flat.tp_name))
        if kind is None:
            if len(self._kinds) >= _MOST_KEPT:
                self._kinds.clear()
            # Never a number again: instructions keep theirs.
            kind = self._kinds[rows, flat.tp_name] = next(self._numbers)
        return _Part(self, kind, keys, addresses)
