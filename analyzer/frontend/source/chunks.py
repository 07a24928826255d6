"""Divides a text into chunks of whole lines. A later version of the text shares its unedited chunks, and
results about a chunk are cached with it. So an edit costs the same in a long file as in a short one."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, TypeVar

LINE_END = re.compile(r"\r\n|\n|\r")
_LINES = 64
"""Lines per chunk of a long text; chunks of fewer than half as many are joined with their neighbours."""
_FEWEST_LINES = 8
"""Lines per chunk of a short text."""
_CHARACTERS_A_LINE = 1024
"""Characters of the text per line of a chunk; visiting all chunks takes time, too."""
_MOST_MISSES = 16
"""Unmatched chunks after which a text is divided anew, because too much was edited."""
_KEPT_TEXTS = 8
_KEPT_CHARACTERS = 4 * 1024 * 1024
"""Characters of all kept texts together; the latest one is always kept."""


_Answer = TypeVar("_Answer")
Search = Callable[[str], object]
"""Whether a text contains something, such as a pattern's ``search``. Matches must not cross lines."""


class Chunk:
    """Consecutive lines with their line ends; a text's last line may lack one."""

    __slots__ = ("_answers", "is_ended", "scanned", "separators", "starts", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.is_ended = text.endswith("\n")
        self.starts = _line_starts(text)
        """Offsets of its lines as editors see them: lines end with LF, CR LF or CR."""
        self.separators = len(self.starts) + text.count(";") + text.count(":")
        """Upper bound for the number of statements and labels."""
        self.scanned: dict[bool, Any] = {}
        """Result of the scanner (scanner.py)."""
        self._answers: dict[Callable[[str], Any], Any] = {}

    def ask(self, question: Callable[[str], _Answer]) -> _Answer:
        """Result of a function of the text; cached."""
        answer: _Answer | None = self._answers.get(question)
        if answer is None:
            answer = self._answers[question] = question(self.text)
        return answer

    def has(self, search: Search) -> bool:
        """Whether ``search`` finds something in any line; cached."""
        answer = self._answers.get(search)
        if answer is None:
            answer = self._answers[search] = bool(search(self.text))
        return bool(answer)


class SourceText:
    """A text and its chunks, shared as far as possible with earlier versions."""

    __slots__ = ("_found", "chunks", "text")

    def __init__(self, text: str, versions: SourceVersions | None = None) -> None:
        """``versions``: texts to share chunks with; this one is added to them."""
        self.text = text
        self.chunks = (versions or SourceVersions()).cut(self)
        self._found: dict[Search, bool] = {}

    def has(self, search: Search) -> bool:
        """Whether ``search`` finds something in any line."""
        found = self._found.get(search)
        if found is None:
            found = self._found[search] = any(chunk.has(search) for chunk in self.chunks)
        return found


def _line_starts(text: str) -> list[int]:
    starts = [0, *map(re.Match.end, LINE_END.finditer(text))]
    return starts[:-1] if starts[-1] == len(text) else starts


class SourceVersions:
    """The latest version of each text, most recent first."""

    def __init__(self) -> None:
        self._kept: tuple[SourceText, ...] = ()

    def cut(self, source: SourceText) -> list[Chunk]:
        """Divide a new text into chunks, and keep it for the next one."""
        text, kept = source.text, self._kept
        chunks: list[Chunk] | None = None
        shared, earlier = -1, None
        # The latest text is the likeliest earlier version; a text that shares half of its characters is one.
        for known in kept:
            if len(known.chunks) == 1 and known.chunks[0].text not in text:
                continue  # a single chunk is shared as a whole or not at all
            found = _recut(text, known.chunks)
            old = set(known.chunks)
            same = sum(len(chunk.text) for chunk in found if chunk in old)
            if same > shared:
                chunks, shared, earlier = found, same, known
            if 0 < 2 * shared >= len(text):
                break
        else:
            earlier = None
        if chunks is None:
            chunks = _chunks(text, _lines(text))
        left = _KEPT_CHARACTERS - len(text)
        self._kept = (source,)
        for known in kept:
            left -= len(known.text)
            if left >= 0 and known is not earlier:
                self._kept += (known,)
        self._kept = self._kept[:_KEPT_TEXTS]
        return chunks


def _recut(text: str, known: Sequence[Chunk]) -> list[Chunk]:
    """Known chunks in order where the text contains them, and new ones between them."""
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
        """Divide the text up to an offset, together with the text before it if that is short."""
        nonlocal position
        if position == stop:
            return
        while result and text.count("\n", position, stop) < length // 2:
            position -= len(result.pop().text)
        result.extend(_chunks(text[position:stop], length))
        position = stop

    misses = 0
    for chunk in known[first:last]:
        at = text.find(chunk.text, position, end) if chunk.is_ended else -1
        if at < 0 or (at > position and text[at - 1] != "\n"):
            misses += 1
            if misses > _MOST_MISSES:
                break
            continue
        cut(at)
        result.append(chunk)
        position = at + len(chunk.text)
    cut(end)
    return result + list(known[last:])


def _lines(text: str) -> int:
    """Lines per chunk."""
    return min(max(len(text) // _CHARACTERS_A_LINE, _FEWEST_LINES), _LINES)


def _chunks(text: str, length: int) -> list[Chunk]:
    """New chunks of about ``length`` lines."""
    *whole, rest = text.split("\n")
    lines = [f"{line}\n" for line in whole] + ([rest] if rest else [])
    count = max(round(len(lines) / length), 1) if lines else 0
    cuts = [len(lines) * number // count for number in range(count + 1)] if count else []
    return [Chunk("".join(lines[first:last])) for first, last in pairwise(cuts)]
