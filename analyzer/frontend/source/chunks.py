"""A text in stretches of whole lines. A later version of it has the same stretches where nothing was edited.
What was found out about them is kept with them: an edit costs the same in a long file as in a short one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, TypeVar

from cyclelens.analyzer.common.patterns import pattern

LINE_END = pattern(r"\r\n|\n|\r")
_LINES = 64
"""Of one stretch of a long text; less than half as many are joined with their neighbours."""
_FEWEST_LINES = 8
"""Of one stretch of a short text."""
_CHARACTERS_A_LINE = 1024
"""So many characters of the text for each line of a stretch: to go over all stretches takes time, too."""
_MOST_MISSES = 16
"""Stretches that are looked for in vain, after which a text is cut anew: too much was edited."""
_KEPT_TEXTS = 8
_KEPT_CHARACTERS = 4 * 1024 * 1024
"""Of all texts that are kept together; the latest is kept whatever its length."""


_Answer = TypeVar("_Answer")
Search = Callable[[str], object]
"""Whether there is something in a text, such as a pattern's ``search``; nothing of it may cross lines."""


class Chunk:
    """Some lines with their ends. The last one of a text may lack its end."""

    __slots__ = ("_answers", "is_ended", "scanned", "separators", "starts", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.is_ended = text.endswith("\n")
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

    def __init__(self, text: str, versions: Versions | None = None) -> None:
        """``versions``: those to share stretches with; they have this one too, then."""
        self.text = text
        self.stretches = (versions or Versions()).cut(self)
        self._found: dict[Search, bool] = {}

    def has(self, search: Search) -> bool:
        """Is there such a thing on any line?"""
        found = self._found.get(search)
        if found is None:
            found = self._found[search] = any(stretch.has(search) for stretch in self.stretches)
        return found


def _line_starts(text: str) -> list[int]:
    starts = [0, *map(re.Match.end, LINE_END.finditer(text))]
    return starts[:-1] if starts[-1] == len(text) else starts


class Versions:
    """The latest version of each text, the latest text first."""

    def __init__(self) -> None:
        self._kept: tuple[Source, ...] = ()

    def cut(self, source: Source) -> list[Chunk]:
        """The stretches of a new text, which is kept for the next one."""
        text, kept = source.text, self._kept
        stretches: list[Chunk] | None = None
        shared, earlier = -1, None
        # The text that was read last is the likeliest; one that shares half of its text is a version of it.
        for known in kept:
            if len(known.stretches) == 1 and known.stretches[0].text not in text:
                continue  # one stretch is shared as a whole or not at all
            found = _recut(text, known.stretches)
            old = set(known.stretches)
            same = sum(len(stretch.text) for stretch in found if stretch in old)
            if same > shared:
                stretches, shared, earlier = found, same, known
            if 0 < 2 * shared >= len(text):
                break
        else:
            earlier = None
        if stretches is None:
            stretches = _stretches(text, _lines(text))
        left = _KEPT_CHARACTERS - len(text)
        self._kept = (source,)
        for known in kept:
            left -= len(known.text)
            if left >= 0 and known is not earlier:
                self._kept += (known,)
        self._kept = self._kept[:_KEPT_TEXTS]
        return stretches


def _recut(text: str, known: Sequence[Chunk]) -> list[Chunk]:
    """Known stretches where the text has them, in their order, and new ones between them."""
    first, last, position, end = 0, len(known), 0, len(text)
    while first < last and text.startswith(known[first].text, position) and known[first].is_ended:
        position += len(known[first].text)
        first += 1
    while first < last and text.endswith(known[last - 1].text, position, end):
        last -= 1
        end -= len(known[last].text)
    while last < len(known) and end > position and text[end - 1] != "\n":
        end += len(known[last].text)
        last += 1
    result = list(known[:first])
    length = _lines(text)

    def cut(stop: int) -> None:
        """Cut the text up to an offset, with what stands before it if there is little."""
        nonlocal position
        if position == stop:
            return
        while result and text.count("\n", position, stop) < length // 2:
            position -= len(result.pop().text)
        result.extend(_stretches(text[position:stop], length))
        position = stop

    misses = 0
    for stretch in known[first:last]:
        at = text.find(stretch.text, position, end) if stretch.is_ended else -1
        if at < 0 or (at > position and text[at - 1] != "\n"):
            misses += 1
            if misses > _MOST_MISSES:
                break
            continue
        cut(at)
        result.append(stretch)
        position = at + len(stretch.text)
    cut(end)
    return result + list(known[last:])


def _lines(text: str) -> int:
    """Lines of each of its stretches."""
    return min(max(len(text) // _CHARACTERS_A_LINE, _FEWEST_LINES), _LINES)


def _stretches(text: str, length: int) -> list[Chunk]:
    """A text cut anew, into pieces of about so many lines."""
    *whole, rest = text.split("\n")
    lines = [f"{line}\n" for line in whole] + ([rest] if rest else [])
    count = max(round(len(lines) / length), 1) if lines else 0
    cuts = [len(lines) * number // count for number in range(count + 1)] if count else []
    return [Chunk("".join(lines[first:last])) for first, last in pairwise(cuts)]
