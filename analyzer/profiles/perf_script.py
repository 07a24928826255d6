"""``perf script -F brstack`` or ``-F brstacksym``: the last branches that jumped before each sample.

A line has entries, the newest first: ``0x40115a/0x401140/P/-/-/3``, ``dot+0x1a/dot+0x0/P/-/-/3/COND/-``. They
tell where a branch was and where it went, then what does not matter here. From where one went to where the
next one was, the code ran in a straight line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from cyclelens.analyzer.profiles.profile import Mapped, Place

_PLACE = r"[^\s/()]+(?:\([^)\s]*\))?"
_ENTRY = re.compile(rf"({_PLACE})/({_PLACE})/[MPN-]+/[X-]/[A-]/\d+(?:/\S*)?(?=\s|$)")
_MAPPED = re.compile(
    r"PERF_RECORD_MMAP2? .*\[(0x[0-9a-f]+)\((0x[0-9a-f]+)\) @ (0x[0-9a-f]+|0)[^\]]*\]: .?.?x.? (.*)"
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
        entries = _ENTRY.findall(line)
        for (newer, _), (_, target) in pairwise(entries):
            self._runs[target, newer] += 1
        if not entries and (found := _MAPPED.search(line)):
            start, size, offset = (int(found[group], 16) for group in (1, 2, 3))
            self.mapped.append(Mapped(start, size, offset, found[4].strip()))

    def runs(self) -> Iterator[tuple[tuple[Place, Place], int]]:
        """All of them with their counts, without those whose places are not understood."""
        for (start, end), count in self._runs.items():
            first, last = _place(start), _place(end)
            if first is not None and last is not None:
                yield (first, last), count


def _place(text: str) -> Place | None:
    found = _TEXT.match(text)
    if found is None:
        return None
    if found[1]:
        return Place("", 0, int(found[1], 16))
    return Place(found[2], int(found[3] or "0", 16), None)
