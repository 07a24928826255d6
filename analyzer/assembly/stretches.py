"""A text in stretches of whole lines. A later version of it has the same stretches where nothing was edited.
What was found out about them is kept with them: an edit costs the same in a long file as in a short one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

LINE_END = re.compile(r"\r\n|\n|\r")
_LINES = 64
"""Of one stretch; less than half as many are joined with their neighbours."""
_KEPT_TEXTS = 8
_KEPT_CHARACTERS = 16 * 1024 * 1024
"""Of all texts that are kept together; the latest is kept whatever its length."""


_Answer = TypeVar("_Answer")
Search = Callable[[str], object]
"""Whether there is something in a text, such as a pattern's ``search``; nothing of it may cross lines."""


class Stretch:
    """Some lines with their ends. The last one of a text may lack its end."""

    __slots__ = ("_answers", "scanned", "separators", "starts", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = _line_starts(text)
        """Where its lines begin, as editors see them: they end with LF, CR LF or CR."""
        self.separators = len(self.starts) + text.count(";") + text.count(":")
        """An upper limit for its statements and labels."""
        self.scanned: dict[bool, Any] = {}
        """What the scanner made of it (scanner.py)."""
        self._answers: dict[Callable[[str], Any], Any] = {}

    def ask(self, question: Callable[[str], _Answer]) -> _Answer:
        """What a function says about the text. Asked once."""
        answer: _Answer | None = self._answers.get(question)
        if answer is None:
            answer = self._answers[question] = question(self.text)
        return answer

    def has(self, search: Search) -> bool:
        """Is there such a thing on any line? Searched once."""
        answer = self._answers.get(search)
        if answer is None:
            answer = self._answers[search] = bool(search(self.text))
        return bool(answer)


class Source:
    """A text and its stretches, as many as possible from a text that was read before."""

    __slots__ = ("_found", "stretches", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.stretches = _cut(self)
        self._found: dict[Search, bool] = {}

    def has(self, search: Search) -> bool:
        """Is there such a thing on any line?"""
        found = self._found.get(search)
        if found is None:
            found = self._found[search] = any(stretch.has(search) for stretch in self.stretches)
        return found


def _line_starts(text: str) -> list[int]:
    starts = [0, *(match.end() for match in LINE_END.finditer(text))]
    return starts[:-1] if starts[-1] == len(text) else starts


class _Kept(NamedTuple):
    """Two versions of one text: the latest, and the one that it was made from. Rewrites that are tried out
    are all made from one version, and so is the next edit."""

    base: Source
    latest: Source


_kept: tuple[_Kept, ...] = ()
"""Latest first."""


def _cut(source: Source) -> list[Stretch]:
    """The stretches of a new text, which is kept for the next one."""
    global _kept
    text, kept = source.text, _kept
    best: tuple[int, Source, _Kept] | None = None
    head: Sequence[Stretch] = ()
    tail: Sequence[Stretch] = ()
    for pair in kept:
        for known in dict.fromkeys(pair):
            found_head, found_tail = _common(text, known.stretches)
            same = _length(found_head) + _length(found_tail)
            if best is None or same > best[0]:
                best, head, tail = (same, known, pair), found_head, found_tail
    middle = text[_length(head) : len(text) - _length(tail)]
    stretches = [*head, *_stretches(middle), *tail]
    base = source
    if best is not None and 0 < 2 * best[0] >= len(text):
        base = best[1]
        kept = tuple(pair for pair in kept if pair is not best[2])
    left = _KEPT_CHARACTERS - len(text)
    _kept = (_Kept(base, source),)
    for pair in kept[: _KEPT_TEXTS - 1]:
        left -= len(pair.latest.text)
        if left >= 0:
            _kept += (pair,)
    return stretches


def _length(stretches: Sequence[Stretch]) -> int:
    return sum(len(stretch.text) for stretch in stretches)


def _common(text: str, known: Sequence[Stretch]) -> tuple[Sequence[Stretch], Sequence[Stretch]]:
    """The known stretches that the text begins and ends with. What lies between begins and ends a line, and
    is not much shorter than a stretch, unless there is nothing."""
    start, end, first, last = 0, len(text), 0, len(known)
    while first < last and text.startswith(known[first].text, start):
        start += len(known[first].text)
        first += 1
    while first < last and text.endswith(known[last - 1].text, start, end):
        last -= 1
        end -= len(known[last].text)

    def is_cut() -> bool:
        """Does a line end at both places, with enough between them?"""
        if start == end:
            return end in (0, len(text)) or text[end - 1] == "\n"
        ended = (start == 0 or text[start - 1] == "\n") and (end == len(text) or text[end - 1] == "\n")
        return ended and text.count("\n", start, end) >= _LINES // 2

    while not is_cut() and (first > 0 or last < len(known)):
        if last < len(known):
            end += len(known[last].text)
            last += 1
        if first > 0 and not is_cut():
            first -= 1
            start -= len(known[first].text)
    return known[:first], known[last:]


def _stretches(text: str) -> list[Stretch]:
    """A text cut anew."""
    *whole, rest = text.split("\n")
    lines = [f"{line}\n" for line in whole] + ([rest] if rest else [])
    count = max(round(len(lines) / _LINES), 1) if lines else 0
    cuts = [len(lines) * number // count for number in range(count + 1)] if count else []
    return [Stretch("".join(lines[first:last])) for first, last in pairwise(cuts)]
