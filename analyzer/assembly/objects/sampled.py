"""A recorded profile in the addresses of a file: how often its code was executed, and where samples fell."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate

from cyclelens.analyzer.assembly.objects.elf import ObjectFile
from cyclelens.analyzer.model.source import Counts
from cyclelens.analyzer.profiles.profile import Place, Profile

_LONGEST_RUN = 1 << 16
"""Bytes in a straight line; what seems longer is two runs of which the profile has lost a branch."""


class Sampled:
    """A profile of this file, which was called ``path`` when it ran."""

    def __init__(self, profile: Profile, file: ObjectFile, path: str) -> None:
        self._file = file
        self._by_instructions = profile.by_instructions
        named: dict[str, set[int]] = {}
        for function in file.functions:
            named.setdefault(function.name, set()).add(function.address)
        self._named = {name: at.pop() for name, at in named.items() if len(at) == 1}
        own = os.path.basename(path)
        self._mapped = [each for each in profile.mapped if own and os.path.basename(each.path) == own]
        starts: Counter[int] = Counter()
        ends: Counter[int] = Counter()
        for (first, last), count in profile.runs.items():
            start, end = self._address(first), self._address(last)
            if start is not None and end is not None and 0 <= end - start < _LONGEST_RUN:
                starts[start] += count
                ends[end] += count
        self._starts, self._ends, self._jumped = _Below(starts), _Below(ends), ends
        self._samples: Counter[int] = Counter()
        for place, hits in profile.samples.items():
            if (at := self._address(place)) is not None:
                self._samples[at] += hits  # type: ignore[assignment]
        self.is_empty = not ends and not self._samples
        """Nothing of it is in this file."""

    def counts(self, addresses: Sequence[int]) -> Counts:
        """Of a stretch of code whose instructions are at these addresses."""
        last = addresses[-1]
        jumped = self._jumped[last]
        return Counts(
            executed=self._covering(addresses[0]),
            jumped=jumped,
            passed=self._covering(last) - jumped,
            samples=sum(self._samples[address] for address in addresses),
            instructions=len(addresses) if self._by_instructions else None,
        )

    def _covering(self, address: int) -> int:
        """The runs that go through an address."""
        return self._starts.up_to(address) - self._ends.up_to(address - 1)

    def _address(self, place: Place) -> int | None:
        if place.address is not None and not self._file.is_relocatable:
            for each in self._mapped:
                if each.start <= place.address < each.start + each.size:
                    return self._file.address_of_offset(place.address - each.start + each.offset)
            return place.address if self._file.is_code(place.address) else None
        base = self._named.get(place.symbol)
        return None if base is None else base + place.offset


class _Below:
    """Sums of counts up to a key."""

    def __init__(self, counts: Counter[int]) -> None:
        self._keys = sorted(counts)
        self._sums = [0, *accumulate(counts[key] for key in self._keys)]

    def up_to(self, key: int) -> int:
        return self._sums[bisect_right(self._keys, key)]
