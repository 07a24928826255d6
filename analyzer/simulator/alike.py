"""Blocks that a run cannot tell from each other: their figure is found once.

Cores before Alder Lake know registers by their class and by who wrote them last. RSP alone has a name: the
stack engine writes it. So blocks whose instructions have equal rows (``flat``) run alike if their registers
differ by name only. Addresses only say which loads meet which stores: without a store they do not count.
Of loops that come from the DSB lengths count only as far as they decide what stands in which line.
"""

from __future__ import annotations

from array import array
from itertools import count
from typing import TypeAlias

from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.options import PUBLISHED, ModelOptions
from cyclelens.analyzer.model.uops import Block, Entry
from cyclelens.analyzer.recent import Caches
from cyclelens.analyzer.simulator.tables.flat import FlatOriginal, flat_original, flatten
from cyclelens.analyzer.simulator.tables.rename_keys import KEYS
from cyclelens.analyzer.uops.rebinding import Sibling

_MOST_KEPT = 1 << 15
"""Kinds of instructions, and figures."""
_RSP = bytes([KEYS.register("RSP")])
_NUMBERS = bytes(range(256))
"""Of registers and flags, as they come up."""

Key: TypeAlias = tuple[object, ...]
Part: TypeAlias = "tuple[Alike, bytes, bytes, tuple[int, ...], bool]"
"""What an instruction adds to a key: its kinds, its registers and flags, its addresses, and whether it
stores. Behind who made it."""
_NAMED = b""
"""In place of its kinds where registers are more than names."""


class Alike:
    """Figures of one core as published, by what its runs depend on."""

    def __init__(self, _caches: Caches) -> None:
        self._core: Microarchitecture | None = None
        self._options: ModelOptions | None = None
        self._names_only = False
        self._kinds: dict[tuple[int, bytes, str], int] = {}
        self._known: dict[tuple[object, ...], bytes] = {}
        """Kinds by what siblings have of their own, which is found sooner."""
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
        entries = block.entries
        parts = [getattr(entry, "part", None) or self.part(entry) for entry in entries]
        makers, kinds, names, places, stores = zip(*parts, strict=True)
        if makers.count(self) != len(makers):
            makers, kinds, names, places, stores = zip(*map(self.part, entries), strict=True)
        if _NAMED in kinds:
            return ()
        registers = _RSP + b"".join(names)  # always the first
        order = bytes(dict.fromkeys(registers))
        registers = registers.translate(bytes.maketrans(order, _NUMBERS[: len(order)]))
        return (block.loop, block.alignment, b"".join(kinds), registers, places if any(stores) else ())

    @staticmethod
    def key_of_loop(key: Key, placement: bytes) -> Key:
        """The same of a loop whose placement is known (``FrontEnd.placement``): alike in more cases."""
        _, _, kinds, *others = key
        return (placement, array("i", kinds)[1::2].tobytes(), *others)  # type: ignore[call-overload]

    def part(self, entry: Entry) -> Part:
        """What an instruction adds to a key; entries of blocks that were built keep it."""
        like = flat_original(entry.original if isinstance(entry, Sibling) else entry)
        instruction = entry.instruction
        if like.merges:
            part: Part = (self, _NAMED, b"", (), False)
        else:
            own = like.own(instruction)
            kinds = self._known.get(own) or self._kinds_of(own, like, entry)
            names = like.renamed(entry.names) if isinstance(entry, Sibling) else like.keys
            part = (self, kinds, names, like.numbers(instruction), like.stores)
        if hasattr(entry, "part"):
            entry.part = part
        return part

    def _kinds_of(self, own: tuple[object, ...], like: FlatOriginal, entry: Entry) -> bytes:
        """A number that is the same for instructions that differ in registers and addresses only, and one for
        those that also differ in what predecoder and decoders see of them."""
        if len(self._known) >= _MOST_KEPT:
            self._known.clear()
            self._kinds.clear()
        numbers = []
        for cached, rows in enumerate(like.without_names(flatten(entry).rows)):
            key = (cached, rows, like.tp_name)
            if key not in self._kinds:
                # Never a number again: instructions keep theirs.
                self._kinds[key] = next(self._numbers)
            numbers.append(self._kinds[key])
        kinds = self._known[own] = array("i", numbers).tobytes()
        return kinds
