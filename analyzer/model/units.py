"""The execution units of a core: their names, their roles, and the notation of sets of units."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum, StrEnum
from functools import reduce
from itertools import combinations
from operator import or_

from msgspec import Struct

MOST_UNITS = 30
"""A set of units is a mask in a signed 32-bit integer."""


class UopKind(IntEnum):
    """What a uop does, which decides which special rules apply to it."""

    COMPUTE = 0
    LOAD = 1
    STORE_ADDRESS = 2
    STORE_DATA = 3
    EMPTY = 4
    """Occupies only issue and retire slots, no unit."""
    SYNC = 5
    """Stack-engine synchronisation."""
    MERGE = 6
    """Merges a separately renamed high-8 register."""


class Role(StrEnum):
    """A class of operations that a unit can execute."""

    ALU = "ALU"
    MERGE = "high-byte merge"
    LEA = "slow LEA"
    SHIFT = "shift"
    MULTIPLY = "multiply"
    DIVIDE = "divide"
    BRANCH = "branch"
    LOAD = "load"
    STORE_ADDRESS = "store address"
    STORE_DATA = "store data"
    VECTOR = "vector"
    SHUFFLE = "shuffle"
    FP_ADD = "FP add"
    FP_MULTIPLY = "FP multiply"
    FP_DIVIDE = "FP divide"
    TRANSFER = "transfer"
    """Vector to integer registers, and store data of vectors."""
    VECTOR_STORE = "vector store"
    """Store data of vectors alone, where transfers leave through another unit."""
    FROM_INTEGER = "from integer"
    """Integer to vector registers."""


class Unit(Struct, frozen=True):
    """One execution unit (Intel: a port); it takes one uop per cycle."""

    name: str
    roles: frozenset[Role]
    scheduler: str = ""
    """The scheduler that feeds it; empty if the core has a single one."""


def unit(name: str, roles: str, scheduler: str = "") -> Unit:
    """A unit with these roles, given as names of ``Role`` separated by commas. Raises
    ValueError for unknown roles."""
    return Unit(name, frozenset(Role(role) for role in roles.split(", ")), scheduler)


class Scheduler(Struct, frozen=True):
    """A scheduler: uops wait here for their inputs and then for one of its units."""

    name: str
    entries: int

    @property
    def buffer(self) -> str:
        """Name among the buffers: ``RS integer``."""
        return f"RS {self.name}"


class Divider(Struct, frozen=True):
    """A divider: takes one uop at a time and is busy for as long as the uop states."""

    units: tuple[str, ...]
    """Division uops bound to one of these units use this divider."""
    through: str | None = None
    """The unit through which they leave the scheduler, whatever unit they were bound to; None: their own."""


class UnitSet(Struct, frozen=True):
    """A set of units of one core, any of which a uop may use."""

    mask: int
    """Bit n stands for unit number n."""
    names: tuple[str, ...]
    text: str
    """Notation for programs: ``0156``, ``ALU0123``."""
    label: str
    """Notation for people: ``p0156``, ``ALU0123``."""


NO_UNITS = UnitSet(0, (), "", "")


class UnitUse(Struct, frozen=True):
    """Uops of one kind that need a unit of one set."""

    kind: UopKind
    units: UnitSet
    uops: int


_MOST_SETS = 8
"""Most distinct sets whose unions are all examined."""


def unit_cycles(uses: Iterable[tuple[int, float]]) -> float:
    """Lower bound on the cycles of the busiest group of units (uops.info paper, section 5.3).

    ``uses``: (mask of units, cycles that one of them is busy).
    """
    taken = [(mask, cycles) for mask, cycles in uses if mask]
    sets = {mask for mask, _ in taken}
    if not sets:
        return 0.0
    most = len(sets) if len(sets) <= _MOST_SETS else 1
    groups = {reduce(or_, each) for size in range(1, most + 1) for each in combinations(sets, size)}
    groups.add(reduce(or_, sets))
    return max(
        sum(cycles for mask, cycles in taken if not mask & ~group) / group.bit_count() for group in groups
    )


class Units:
    """The units of a core by number, name and role, and the instruction tables' names for sets of them."""

    def __init__(
        self,
        units: Sequence[Unit],
        *,
        prefix: str = "",
        letters: Mapping[str, str] | None = None,
        sets: Mapping[str, tuple[UopKind, str]] | None = None,
    ) -> None:
        """``prefix``: put before unit names in text for people. ``letters``: letter in the tables' names of
        sets -> unit; by default each unit's own name. ``sets``: other names of sets -> (kind of the uops,
        names of the units).

        Raises ValueError for more than ``MOST_UNITS`` units, or if a table names an unknown unit.
        """
        if len(units) > MOST_UNITS:
            raise ValueError(f"a core has at most {MOST_UNITS} units")
        self.all = tuple(units)
        self.names = tuple(unit.name for unit in units)
        self.prefix = prefix
        self._numbers = {name: number for number, name in enumerate(self.names)}
        self._letters = {name: name for name in self.names} if letters is None else dict(letters)
        self.sets = dict(sets or {})
        self._by_role: dict[Role, UnitSet] = {}
        self._by_mask: dict[int, UnitSet] = {0: NO_UNITS}
        self._by_text: dict[str, tuple[UopKind, UnitSet]] = {}
        for text in (*(letters or ()), *self.sets):
            self.use(text, 1)

    def __len__(self) -> int:
        return len(self.all)

    def of(self, mask: int) -> UnitSet:
        """The set of the units whose bits are set; always the same object."""
        known = self._by_mask.get(mask)
        if known is None:
            names = tuple(name for number, name in enumerate(self.names) if mask >> number & 1)
            text = _joined(names)
            known = self._by_mask[mask] = UnitSet(mask, names, text, self.prefix + text)
        return known

    def named(self, names: Iterable[str]) -> UnitSet:
        """The set of these units. Raises KeyError for unknown names."""
        return self.of(sum({1 << self._numbers[name] for name in names}))

    def having(self, role: Role) -> UnitSet:
        """The set of all units with this role."""
        known = self._by_role.get(role)
        if known is None:
            names = [unit.name for unit in self.all if role in unit.roles]
            known = self._by_role[role] = self.named(names)
        return known

    def numbers(self, units: UnitSet) -> tuple[int, ...]:
        """Numbers of the units of a set, ascending."""
        return tuple(self._numbers[name] for name in units.names)

    def label(self, name: str) -> str:
        """A unit's name for people: ``p0``."""
        return self.prefix + name

    def use(self, text: str, uops: int) -> UnitUse:
        """The need of ``uops`` uops for a set written as in the instruction tables. Raises
        ValueError for unknown sets."""
        known = self._by_text.get(text)
        if known is None:
            known = self._by_text[text] = self._read(text)
        return UnitUse(*known, uops)

    def in_tables(self, names: Iterable[str]) -> str:
        """The set of these units in the instruction tables' notation."""
        letters = {name: letter for letter, name in self._letters.items()}
        return self.prefix + "".join(sorted(letters[name] for name in names))

    def parse(self, text: str) -> UnitSet:
        """Parses a user's set: names separated by blanks or commas, or a label or text from a report
        (``p0156``, ``ALU01``). Raises ValueError."""
        mask = 0
        for part in re.split(r"[\s,+]+", text.strip()):
            mask |= self._part(part).mask
        return self.of(mask)

    def _part(self, text: str) -> UnitSet:
        if text in self._numbers:
            return self.named([text])
        bare = text.removeprefix(self.prefix)
        stem = re.match(r"[A-Za-z]*(?=\d)", bare)
        names = [stem[0] + digit for digit in bare[stem.end() :]] if stem else list(bare)
        if not names or any(name not in self._numbers for name in names):
            raise ValueError(f"'{text}' is not one of the units {' '.join(map(self.label, self.names))}")
        return self.named(names)

    def _read(self, text: str) -> tuple[UopKind, UnitSet]:
        named = self.sets.get(text)
        if named is not None:
            kind, names = named
            return kind, self.named(names.split())
        try:
            units = self.named(self._letters[letter] for letter in text)
        except KeyError:
            raise ValueError(f"'{text}' is not a set of the units {' '.join(self.names)}") from None
        return self._kind(units), units

    def _kind(self, units: UnitSet) -> UopKind:
        """Kind of a uop that may use any of these units (U1).

        Store address if a unit is for store addresses alone, otherwise load if one loads, otherwise store
        data.
        """
        roles = [unit.roles for unit in self.all if unit.name in units.names]
        if any(Role.STORE_ADDRESS in each and Role.LOAD not in each for each in roles):
            return UopKind.STORE_ADDRESS
        if any(Role.LOAD in each for each in roles):
            return UopKind.LOAD
        if any(Role.STORE_DATA in each for each in roles):
            return UopKind.STORE_DATA
        return UopKind.COMPUTE


def _joined(names: Sequence[str]) -> str:
    """Notation of a set: ``0156A`` for 0 1 5 6 A, ``ALU01+FP0`` for ALU0 ALU1 FP0, ``0,10`` for 0 10."""
    stems: dict[str, list[str]] = {}
    for name in names:
        stem = re.sub(r"\d+$", "", name) if len(name) > 1 else ""
        stems.setdefault(stem, []).append(name.removeprefix(stem))
    return "+".join(
        stem + ("" if all(len(number) <= 1 for number in numbers) else ",").join(numbers)
        for stem, numbers in stems.items()
    )
