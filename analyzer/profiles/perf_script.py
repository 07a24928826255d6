"""``perf script -F brstack`` or ``-F brstacksym``: the last branches that jumped before each sample.

A line has entries, the newest first: ``0x40115a/0x401140/P/-/-/3``, ``dot+0x1a/dot+0x0/P/-/-/3/COND/-``. They
tell where a branch was and where it went, then what does not matter here. From where one went to where the
next one was, the code ran in a straight line.

Profiles come from anywhere. So every expression here takes time in proportion to its text: quantifiers are
possessive where two of them could share the same characters, and nothing is looked for from every place anew.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from cyclelens.analyzer.profiles.profile import CodeLocation, Mapped

_PLACE = r"[^\s/()]++(?:\([^)\s]*+\))?+"
_ENTRY = re.compile(rf"(?:\([^)\s]*+\))?+({_PLACE})/({_PLACE})")
"""The file of the sample's own place may stand right in front of it."""
_BEHIND = re.compile(r"/[MPN-]++/[X-]/[A-]/\d++(?:/|$)")
"""What follows the two places of an entry."""
_UNKNOWN = ("", "")
"""An entry whose places are not understood: of a symbol with parentheses, say."""
_MAPPING = "PERF_RECORD_MMAP"
_MAPPED = re.compile(
    r"PERF_RECORD_MMAP2? [^\[]*+\[(0x[0-9a-f]+)\((0x[0-9a-f]+)\) @ (0x[0-9a-f]+|0)[^\]]*\]: .?.?x.? (.*)"
)
_TEXT = re.compile(r"(?:(0x[0-9a-f]+)|([^(+]+)(?:\+(0x[0-9a-f]+))?)(?:\(.*\))?$")


class Branches:
    """Collects what the lines say."""

    def __init__(self) -> None:
        self._runs: Counter[tuple[str, str]] = Counter()
        self.mapped: list[Mapped] = []

    def read(self, line: str) -> None:
        """Count the runs of a line; other lines are ignored."""
        if "/" not in line:
            return
        entries = [_entry(word, end.start()) for word in line.split() if (end := _BEHIND.search(word))]
        for (newer, _), (_, target) in pairwise(entries):
            if newer and target:
                self._runs[target, newer] += 1
        if entries or (start_of_record := line.find(_MAPPING)) < 0:
            return
        if found := _MAPPED.match(line, start_of_record):
            start, size, offset = (int(found[group], 16) for group in (1, 2, 3))
            self.mapped.append(Mapped(start, size, offset, found[4].strip()))

    def runs(self) -> Iterator[tuple[tuple[CodeLocation, CodeLocation], int]]:
        """All of them with their counts, without those whose places are not understood."""
        for (start, end), count in self._runs.items():
            first, last = _place(start), _place(end)
            if first is not None and last is not None:
                yield (first, last), count


def _entry(word: str, end: int) -> tuple[str, str]:
    """Where a branch was and where it went, as they stand in the first characters of a word."""
    found = _ENTRY.fullmatch(word, 0, end)
    return (found[1], found[2]) if found else _UNKNOWN


def _place(text: str) -> CodeLocation | None:
    found = _TEXT.match(text)
    if found is None:
        return None
    if found[1]:
        return CodeLocation("", 0, int(found[1], 16))
    return CodeLocation(found[2], int(found[3] or "0", 16), None)
