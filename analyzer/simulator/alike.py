"""Blocks that a run cannot tell from each other: their figure is found once.

Cores before Alder Lake know registers by their class and by who wrote them last. RSP alone has a name: the
stack engine writes it. So blocks whose instructions have equal rows (``flat``) run alike if their registers
differ by name only. Addresses only say which loads meet which stores: without a store they do not count.
"""

from __future__ import annotations

from itertools import count
from typing import TypeAlias

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.options import PUBLISHED, ModelOptions
from cyclelens.analyzer.model.uops import Block
from cyclelens.analyzer.recent import Caches
from cyclelens.analyzer.simulator.tables.flat import KEYS, FlatInstruction, flatten

_MOST_KEPT = 1 << 15
"""Kinds of instructions, and figures."""
_RSP = bytes([KEYS.register("RSP")])
_NUMBERS = bytes(range(256))
"""Of registers and flags, as they come up."""

Key: TypeAlias = tuple[object, ...]
_Part: TypeAlias = "tuple[Alike, int, bytes, tuple[int, ...], bool]"
"""What an instruction adds to a key: a number that is the same for instructions that differ in registers and
addresses only, its registers and flags, its addresses, and whether it stores. Behind who made it."""
_NAMED = -1
"""In place of that number where registers are more than names."""


class Alike:
    """Figures of one core as published, by what its runs depend on."""

    def __init__(self, _caches: Caches) -> None:
        self._core: Microarchitecture | None = None
        self._options: ModelOptions | None = None
        self._names_only = False
        self._kinds: dict[tuple[bytes, str], int] = {}
        self._known: dict[tuple[object, ...], int] = {}
        """Kinds by instruction and what siblings of it have of their own, which is found sooner."""
        self._numbers = count()
        self.figures: dict[Key, float] = {}

    def key(self, block: Block, microarchitecture: Microarchitecture, options: ModelOptions) -> Key:
        """All that the block's figure depends on; empty where registers or addresses are more than names."""
        if microarchitecture is not self._core or options is not self._options:
            self._core, self._options = microarchitecture, options
            self._names_only = options == PUBLISHED and not (
                microarchitecture.macro_ops or microarchitecture.tracks_values
            )
            self.figures.clear()
        if not self._names_only:
            return ()
        if len(self.figures) >= _MOST_KEPT:
            self.figures.clear()
        kinds: list[int] = []
        names = [_RSP]  # always the first
        addresses: list[int] = []
        stored = False
        for entry in block.entries:
            flat = getattr(entry, "flat", None) or flatten(entry)
            part: _Part | None = flat.part
            if part is None or part[0] is not self:
                part = flat.part = self._part(flat)
            _, kind, keys, places, stores = part
            kinds.append(kind)
            names.append(keys)
            addresses += places
            stored = stored or stores
        if _NAMED in kinds:
            return ()
        registers = b"".join(names)
        order = bytes(dict.fromkeys(registers))
        registers = registers.translate(bytes.maketrans(order, _NUMBERS[: len(order)]))
        return (block.loop, block.alignment, tuple(kinds), registers, tuple(addresses) if stored else ())

    def _part(self, flat: FlatInstruction) -> _Part:
        if flat.merges or max(flat.keys, default=0) >= len(_NUMBERS):
            return (self, _NAMED, b"", (), False)
        return (self, self._number_of(flat), bytes(flat.keys), flat.numbers(), flat.stores)

    def _number_of(self, flat: FlatInstruction) -> int:
        own = flat.own()
        kind = self._known.get(own)
        if kind is None:
            rows = (flat.without_names(), flat.tp_name)
            kind = self._kinds.get(rows)
            if kind is None:
                # Never a number again: instructions keep theirs.
                kind = next(self._numbers)
            if len(self._known) >= _MOST_KEPT:
                self._known.clear()
                self._kinds.clear()
            self._known[own] = self._kinds[rows] = kind
        return kind
