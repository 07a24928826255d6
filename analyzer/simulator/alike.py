"""Blocks that a run cannot tell from each other: their figure is found once.

Cores before Alder Lake know registers by their class and by who wrote them last. RSP alone has a name: the
stack engine writes it. So blocks whose instructions have equal rows (``flat``) run alike if their registers
differ by name only. Addresses only say which loads meet which stores: without a store they do not count.
Of loops that come from the DSB lengths count only as far as they decide what stands in which line.
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
_Kinds: TypeAlias = tuple[int, int]
"""A number that is the same for instructions that differ in registers and addresses only, and one for those
that also differ in what predecoder and decoders see of them."""
_Part: TypeAlias = "tuple[Alike, _Kinds, bytes, tuple[int, ...], bool]"
"""What an instruction adds to a key: its kinds, its registers and flags, its addresses, and whether it
stores. Behind who made it."""
_NAMED = (-1, -1)
"""In place of its kinds where registers are more than names."""


class Alike:
    """Figures of one core as published, by what its runs depend on."""

    def __init__(self, _caches: Caches) -> None:
        self._core: Microarchitecture | None = None
        self._options: ModelOptions | None = None
        self._names_only = False
        self._kinds: dict[tuple[bool, bytes, str], int] = {}
        self._known: dict[tuple[object, ...], _Kinds] = {}
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
        kinds: list[_Kinds] = []
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

    @staticmethod
    def key_of_loop(key: Key, placement: bytes) -> Key:
        """The same of a loop whose placement is known (``FrontEnd.placement``): alike in more cases."""
        _, _, kinds, *others = key
        return (placement, tuple([kind for _, kind in kinds]), *others)  # type: ignore[attr-defined]

    def _part(self, flat: FlatInstruction) -> _Part:
        if flat.merges or max(flat.keys, default=0) >= len(_NUMBERS):
            return (self, _NAMED, b"", (), False)
        return (self, self._kinds_of(flat), bytes(flat.keys), flat.numbers(), flat.stores)

    def _kinds_of(self, flat: FlatInstruction) -> _Kinds:
        own = flat.own()
        kinds = self._known.get(own)
        if kinds is None:
            if len(self._known) >= _MOST_KEPT:
                self._known.clear()
                self._kinds.clear()
            kinds = (self._kind_by_rows(flat, cached=False), self._kind_by_rows(flat, cached=True))
            self._known[own] = kinds
        return kinds

    def _kind_by_rows(self, flat: FlatInstruction, *, cached: bool) -> int:
        rows = (cached, flat.without_names(cached=cached), flat.tp_name)
        kind = self._kinds.get(rows)
        if kind is None:
            # Never a number again: instructions keep theirs.
            kind = self._kinds[rows] = next(self._numbers)
        return kind
