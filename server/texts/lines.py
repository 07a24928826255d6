"""The lines of a document, kept in parts, so that the cost of an edit in a huge text depends only on its
neighbourhood.

A part is a stretch of text that ends behind a newline (except the last one). It is split into lines when one
of them is first needed. A text that is only stored stays a few long strings, whose memory returns to the
system when the document is closed.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import overload

from cyclelens.server.texts.text import plain, split

PART_CHARACTERS = 1 << 16
"""Approximate size of a part in characters."""
_LINE_END = re.compile(r"\r\n|\r|\n")


class _LineBlock:
    """A stretch of whole lines of the text."""

    __slots__ = ("_split", "count", "text")

    def __init__(self, text: str, *, last: bool) -> None:
        """``last``: this is the last part, whose last line has no line end."""
        self.text = text
        self.count = _ends(text) + last
        self._split: tuple[tuple[str, ...], tuple[str, ...]] | None = None

    def cut(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The lines and their ends; cached, because requests for neighbouring lines follow."""
        if self._split is None:
            lines, ends = split(self.text)
            self._split = lines[: self.count], ends
        return self._split

    def lines(self) -> tuple[str, ...]:
        """The lines, for passes over the whole text; not cached."""
        return self._split[0] if self._split else split(self.text)[0][: self.count]

    def start_of(self, line: int) -> int:
        """Number of characters in front of a line."""
        lines, ends = self.cut()
        return sum(map(len, lines[:line])) + sum(map(len, ends[:line]))


class Lines(Sequence[str]):
    """An immutable sequence of lines, without their ends; there is at least one."""

    __slots__ = ("_firsts", "_parts")

    def __init__(self, parts: Sequence[_LineBlock]) -> None:
        self._parts = tuple(parts)
        self._firsts = (0, *accumulate(part.count for part in self._parts))
        """The first line of each part, then the total number of lines."""

    @classmethod
    def of(cls, text: str) -> Lines:
        """The lines of a text as LSP counts them."""
        return cls(list(_parts(plain(text), last=True)))

    def __len__(self) -> int:
        return self._firsts[-1]

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[str, ...]: ...
    def __getitem__(self, at: int | slice) -> str | tuple[str, ...]:
        if isinstance(at, slice):
            first, behind, step = at.indices(len(self))
            return self._between(first, behind) if step == 1 else tuple(self)[at]
        line = at + len(self) if at < 0 else at
        if not 0 <= line < len(self):
            raise IndexError(at)
        number = self._part_of(line)
        return self._parts[number].cut()[0][line - self._firsts[number]]

    def __iter__(self) -> Iterator[str]:
        for part in self._parts:
            yield from part.lines()

    def __eq__(self, other: object) -> bool:
        return tuple(self) == (tuple(other) if isinstance(other, Lines) else other)

    __hash__ = None  # type: ignore[assignment]

    @property
    def ends(self) -> tuple[str, ...]:
        """The line end of each line except the last."""
        return tuple(end for part in self._parts for end in part.cut()[1])

    @property
    def text(self) -> str:
        """The text for the analyzer, with newlines as the only line ends."""
        return _LINE_END.sub("\n", "".join(part.text for part in self._parts))

    @property
    def characters(self) -> int:
        """Length of the text in characters, line ends included."""
        return sum(len(part.text) for part in self._parts)

    def edited(self, start: tuple[int, int], end: tuple[int, int], text: str) -> Lines:
        """The lines after the text between two positions (line, column) was replaced."""
        first, last = self._part_of(start[0]), self._part_of(end[0])
        head, tail = self._parts[first], self._parts[last]
        before = head.text[: head.start_of(start[0] - self._firsts[first]) + start[1]]
        behind = tail.text[tail.start_of(end[0] - self._firsts[last]) + end[1] :]
        is_last = last == len(self._parts) - 1
        new = _parts(before + plain(text) + behind, last=is_last)
        return Lines([*self._parts[:first], *new, *self._parts[last + 1 :]])

    def _part_of(self, line: int) -> int:
        return bisect_right(self._firsts, line, hi=len(self._parts)) - 1

    def _between(self, first: int, behind: int) -> tuple[str, ...]:
        found: list[str] = []
        number = self._part_of(first) if first < behind else len(self._parts)
        while number < len(self._parts) and self._firsts[number] < behind:
            start = self._firsts[number]
            found += self._parts[number].cut()[0][max(first - start, 0) : behind - start]
            number += 1
        return tuple(found)


def _parts(text: str, *, last: bool) -> Iterator[_LineBlock]:
    """The parts of a stretch of text. ``last``: its last line has no end. Otherwise the stretch ends with a
    newline, and an empty one has no parts."""
    start = 0
    while len(text) - start > 2 * PART_CHARACTERS:
        end = text.find("\n", start + PART_CHARACTERS) + 1
        if not end or end == len(text):
            break
        yield _LineBlock(text[start:end], last=False)
        start = end
    if last or start < len(text):
        yield _LineBlock(text[start:], last=last)


def _ends(text: str) -> int:
    """Number of line ends in a text."""
    return text.count("\n") + (text.count("\r") - text.count("\r\n") if "\r" in text else 0)
