"""Parses ``perf script -F brstack`` or ``-F brstacksym``: the last taken branches before each sample.

A line lists entries, newest first: ``0x40115a/0x401140/P/-/-/3`` or ``dot+0x1a/dot+0x0/P/-/-/3/COND/-``. Each
begins with a branch's own address and its target. From one branch's target to the next branch, the code ran
in a straight line.

Profiles are untrusted, so every pattern here matches in linear time: quantifiers are possessive where two of
them could match the same characters, and no search restarts at every position.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from cyclelens.analyzer.profiles.profile import CodeLocation, FileMapping

_PLACE = r"[^\s/()]++(?:\([^)\s]*+\))?+"
_ENTRY = re.compile(rf"(?:\([^)\s]*+\))?+({_PLACE})/({_PLACE})")
"""The file of the sample's own address may precede the entry without a space."""
_BEHIND = r"/([MPN-]++)/[X-]/[A-]/\d++(?:/|$)"
"""The part of an entry after its two addresses; it begins with M for mispredicted, P for predicted."""
_UNKNOWN = ("", "")
"""An entry whose addresses cannot be parsed, for example because a symbol contains parentheses."""
_MAPPING = "PERF_RECORD_MMAP"
_MAPPED = re.compile(
    r"PERF_RECORD_MMAP2? [^\[]*+\[(0x[0-9a-f]+)\((0x[0-9a-f]+)\) @ (0x[0-9a-f]+|0)[^\]]*\]: .?.?x.? (.*)"
)
_TEXT = r"(?:(0x[0-9a-f]+)|([^(+]+)(?:\+(0x[0-9a-f]+))?)(?:\(.*\))?$"


class Branches:
    """Accumulates straight-line runs line by line."""

    def __init__(self) -> None:
        self._outcomes: Counter[tuple[str, str]] = Counter()
        self._runs: Counter[tuple[str, str]] = Counter()
        self.mapped: list[FileMapping] = []

    def read(self, line: str) -> None:
        """Count the runs of one line; other lines are ignored."""
        if "/" not in line:
            return
        entries = []
        for word in line.split():
            if end := re.search(_BEHIND, word):
                entries.append(_entry(word, end.start()))
                self._outcomes[entries[-1][0], end[1][0]] += 1
        for (newer, _), (_, target) in pairwise(entries):
            if newer and target:
                self._runs[target, newer] += 1
        if entries or (start_of_record := line.find(_MAPPING)) < 0:
            return
        if found := _MAPPED.match(line, start_of_record):
            start, size, offset = (int(found[group], 16) for group in (1, 2, 3))
            self.mapped.append(FileMapping(start, size, offset, found[4].strip()))

    def runs(self) -> Iterator[tuple[tuple[CodeLocation, CodeLocation], int]]:
        """Runs (first and last instruction) with their counts; those with unknown addresses are left out."""
        for (start, end), count in self._runs.items():
            first, last = _place(start), _place(end)
            if first is not None and last is not None:
                yield (first, last), count

    def outcomes(self) -> dict[CodeLocation, tuple[int, int]]:
        """How often each branch was mispredicted and predicted, where that was recorded."""
        found: dict[CodeLocation, tuple[int, int]] = {}
        for (source, outcome), count in self._outcomes.items():
            place = _place(source)
            if place is not None and outcome in "MP":
                mispredicted, predicted = found.get(place, (0, 0))
                wrong = outcome == "M"
                found[place] = mispredicted + count * wrong, predicted + count * (not wrong)
        return found


def _entry(word: str, end: int) -> tuple[str, str]:
    """Source and target of a branch, from the first ``end`` characters of a word."""
    found = _ENTRY.fullmatch(word, 0, end)
    return (found[1], found[2]) if found else _UNKNOWN


def _place(text: str) -> CodeLocation | None:
    found = re.match(_TEXT, text)
    if found is None:
        return None
    if found[1]:
        return CodeLocation("", 0, int(found[1], 16))
    return CodeLocation(found[2], int(found[3] or "0", 16), None)
