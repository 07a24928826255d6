"""Finds blocks that simulate identically, so that their figure is computed once.

The same code at two positions is alike if its front end says so (``FrontEnd.placement``). Different code may
be alike too: cores before Alder Lake distinguish registers only by class and latest writer. RSP is the
exception, because the stack engine writes it. So blocks whose instructions have equal rows (``flat``) run
alike if only the names of their registers differ. Addresses only decide which loads overlap which stores, so
without a store they do not count. In loops from the DSB, lengths count only as far as they decide which
instructions share a line.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING

from cyclelens.analyzer.common.recent import Caches
from cyclelens.analyzer.model.microarchitecture import Microarchitecture
from cyclelens.analyzer.model.options import ModelOptions
from cyclelens.analyzer.model.uops import Block
from cyclelens.analyzer.simulator.tables.arrays import Column, ints
from cyclelens.analyzer.simulator.tables.constants import NONE
from cyclelens.analyzer.simulator.tables.flat import FlatInstruction, flatten
from cyclelens.analyzer.simulator.tables.rename_keys import KEYS

if TYPE_CHECKING:
    from typing import TypeAlias

_MOST_KEPT = 1 << 15
"""Limit for kinds of instructions, and for figures."""
_RSP = KEYS.register("RSP")
_MOST_KEYS = 256

Key: TypeAlias = tuple[object, ...]
_NAMED = b""
"""Replaces the kinds on cores where register names matter."""


class Alike:
    """Figures of one core with one set of options, by what its runs depend on."""

    def __init__(self, _caches: Caches) -> None:
        self._core: Microarchitecture | None = None
        self._options: ModelOptions | None = None
        self._names_only = False
        self._place_unknown = False
        """Whether the front end does not say what its runs depend on, or runs are random."""
        self._place = NONE
        """Position of the first block, ..."""
        self._several_places = False
        """... and whether other blocks lay elsewhere."""
        self._stores_differ = False
        """Whether blocks with stores are never alike, because the model follows values."""
        self._kinds: dict[tuple[int, bytes, str], int] = {}
        self._known: dict[tuple[object, ...], bytes] = {}
        """Kinds by the siblings' own values, which are faster to look up."""
        self._numbers: Iterator[int] = count()
        self._block = 0
        self._met: Column = ints(_MOST_KEYS)
        """By register or flag: the latest block that uses it, ..."""
        self._places: Column = ints(_MOST_KEYS)
        """... and how many other registers that block had used before."""
        self.figures: dict[Key, float] = {}

    def key(self, block: Block, microarchitecture: Microarchitecture, options: ModelOptions) -> Key:
        """Everything that the block's figure depends on: its code, or less if registers and addresses are
        only names. Empty if no block can be alike; by code none can before blocks lie at several
        positions."""
        if microarchitecture is not self._core or options is not self._options:
            self._core, self._options = microarchitecture, options
            self._names_only = not (microarchitecture.macro_ops or microarchitecture.tracks_values)
            self._stores_differ = options.hardware
            self._place_unknown = options.simple_front_end or options.port_seed is not None
            self._place = NONE
            self._several_places = False
            self.figures.clear()
        if self._place_unknown:
            return ()
        if len(self.figures) >= _MOST_KEPT:
            self.figures.clear()
        key: Key = self._key(block) if self._names_only else ()
        if self._place == NONE:
            self._place = block.alignment
        self._several_places = self._several_places or block.alignment != self._place
        return key or (_key_of_code(block) if self._several_places else ())

    def _key(self, block: Block) -> Key:
        kinds: list[bytes] = []
        registers: list[int] = []
        places: list[tuple[int, ...]] = []
        stores: bool = False
        met: int = 1
        self._block += 1
        self._met[_RSP] = self._block  # always the first
        self._places[_RSP] = 0
        for entry in block.entries:
            flat: FlatInstruction = getattr(entry, "flat", None) or flatten(entry)
            if flat.maker is not self:
                self.tell(flat)
            if not flat.kinds:
                return ()
            kinds.append(flat.kinds)
            keys = flat.keys
            for position in range(len(keys)):
                key: int = keys[position]
                if self._met[key] != self._block:
                    self._met[key] = self._block
                    self._places[key] = met
                    met += 1
                registers.append(self._places[key])
            places.append(flat.numbers)
            stores = stores or flat.like.stores
        if stores and self._stores_differ:
            return ()
        others = tuple(places) if stores else ()
        return (block.loop, block.alignment, b"".join(kinds), bytes(registers), others)

    @staticmethod
    def key_of_loop(key: Key, placement: bytes) -> Key:
        """The key of a loop whose placement is known (``FrontEnd.placement``): more loops are alike."""
        _, _, kinds, *others = key
        if not others:
            return (placement, kinds)
        return (placement, array("i", kinds)[1::2].tobytes(), *others)  # type: ignore[call-overload]

    def tell(self, flat: FlatInstruction) -> None:
        """Set the kinds of an instruction."""
        flat.maker = self
        if flat.like.merges:
            flat.kinds = _NAMED
        else:
            kind = flat.kind()
            flat.kinds = self._known.get(kind) or self._kinds_of(kind, flat)

    def _kinds_of(self, kind: tuple[object, ...], flat: FlatInstruction) -> bytes:
        """Two numbers: one is the same for instructions that differ only in registers and addresses, the
        other also for those that differ in what predecoder and decoders see."""
        if len(self._known) >= _MOST_KEPT:
            self._known.clear()
            self._kinds.clear()
        numbers = []
        for cached, rows in enumerate(flat.like.without_names(flat.rows())):
            key = (cached, rows, flat.like.tp_name)
            if key not in self._kinds:
                # Numbers are not reused: instructions keep theirs.
                self._kinds[key] = next(self._numbers)
            numbers.append(self._kinds[key])
        kinds = self._known[kind] = array("i", numbers).tobytes()
        return kinds


def _key_of_code(block: Block) -> Key:
    return (block.loop, block.alignment, b"".join([entry.instruction.code for entry in block.entries]))
