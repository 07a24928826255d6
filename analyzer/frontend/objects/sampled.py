"""Maps a recorded profile to addresses of code: execution counts and samples."""

from __future__ import annotations

import os
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate

from cyclelens.analyzer.frontend.control_flow.control_flow import kind_of
from cyclelens.analyzer.frontend.objects.elf import ObjectFile
from cyclelens.analyzer.model.instruction import Instruction
from cyclelens.analyzer.model.source import Counts
from cyclelens.analyzer.profiles.profile import CodeLocation, Profile

_LONGEST_RUN = 1 << 16
"""Maximum bytes of a straight-line run; a longer one is two runs between which the profile lost a branch."""
OTHER_CODE = (
    "The profile is of other code than '{}': its branches and samples do not fall on these instructions. "
    "Record a build of this version."
)
Placed = tuple[int, Instruction]
"""An instruction with its address."""


def in_file(profile: Profile, file: ObjectFile, path: str) -> LocatedProfile:
    """The profile of an ELF file that was at ``path`` when the profile was recorded."""
    own = os.path.basename(path)
    mapped = [each for each in profile.mapped if own and os.path.basename(each.path) == own]

    def address_of(place: CodeLocation) -> int | None:
        if place.file and own and not file.is_relocatable and os.path.basename(place.file) != own:
            return None
        if place.address is not None and not file.is_relocatable:
            for each in mapped:
                if each.start <= place.address < each.start + each.size:
                    return file.address_of_offset(place.address - each.start + each.offset)
            if file.is_code(place.address):
                return place.address
        base = file.named.get(place.symbol)
        return None if base is None else base + place.offset

    return LocatedProfile(profile, address_of)


class LocatedProfile:
    """A profile of code in which ``address_of`` locates the profile's places."""

    def __init__(self, profile: Profile, address_of: Callable[[CodeLocation], int | None]) -> None:
        self._by_instructions = profile.by_instructions
        self._has_branches = bool(profile.runs)
        starts: Counter[int] = Counter()
        ends: Counter[int] = Counter()
        for (first, last), count in profile.runs.items():
            start, end = address_of(first), address_of(last)
            if start is not None and end is not None and 0 <= end - start < _LONGEST_RUN:
                starts[start] += count
                ends[end] += count
        self._starts, self._ends = _Below(starts), _Below(ends)
        samples: Counter[int] = Counter()
        for place, hits in profile.samples.items():
            if (at := address_of(place)) is not None:
                samples[at] += hits  # type: ignore[assignment]
        self._samples = _Below(samples)
        self._mispredicted: dict[int, float] = {}
        """Share of a branch's jumps that were mispredicted."""
        for place, (wrong, right) in profile.outcomes.items():
            if (at := address_of(place)) is not None and wrong + right:
                self._mispredicted[at] = wrong / (wrong + right)
        self.is_empty = not ends and not samples
        """Nothing in the profile belongs to this code."""

    def counts(self, instructions: Sequence[Placed]) -> Counts:
        """Counts for a straight-line piece of code."""
        last = instructions[-1][0]
        jumped = self._ends.at(last)
        return Counts(
            executed=self._covering(instructions[0][0]),
            jumped=jumped,
            passed=self._covering(last) - jumped,
            samples=sum(self._samples.at(address) for address, _ in instructions),
            instructions=len(instructions) if self._by_instructions else None,
            has_branches=self._has_branches,
            mispredicted=jumped * self._mispredicted.get(last, 0.0),
        )

    def samples_within(self, addresses: range) -> float:
        """Samples that hit these addresses."""
        return self._samples.within(addresses)

    def is_of(self, instructions: Iterable[Placed]) -> bool:
        """Whether most branches and samples fall on branches and instructions. An interrupt may end a run
        anywhere."""
        possible = total = 0.0
        for address, instruction in instructions:
            inside = range(address, address + instruction.length)
            ends = self._ends.within(inside)
            total += ends + self._samples.within(inside)
            possible += (self._ends.at(address) if _may_leave(instruction) else 0) + self._samples.at(address)
        return 2 * possible >= total

    def _covering(self, address: int) -> int:
        """Number of runs through an address."""
        return self._starts.up_to(address) - self._ends.up_to(address - 1)


def _may_leave(instruction: Instruction) -> bool:
    mnemonic = instruction.mnemonic
    return kind_of(mnemonic) is not None or mnemonic.startswith(("sys", "int", "jmp", "call", "iret"))


class _Below:
    """Prefix sums of counts over sorted keys."""

    def __init__(self, counts: Counter[int]) -> None:
        self._counts = counts
        self._keys = sorted(counts)
        self._sums = [0, *accumulate(counts[key] for key in self._keys)]

    def at(self, key: int) -> int:
        return self._counts.get(key, 0)

    def up_to(self, key: int) -> int:
        return self._sums[bisect_right(self._keys, key)]

    def within(self, keys: range) -> int:
        return (
            self._sums[bisect_left(self._keys, keys.stop)] - self._sums[bisect_left(self._keys, keys.start)]
        )
