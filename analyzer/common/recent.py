"""Caches that keep the entries of the latest texts and drop older ones; and the set of a workspace's caches.

There are two generations: a used entry moves into the young one. Once that holds much more than one text
needs, it becomes the old one, and the previous old one is dropped. So a text of any size stays cached, and
abandoned edits do not. Generations change between texts only (or batches of machine code).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, Generic, TypeVar

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")
_Part = TypeVar("_Part")

_SLACK = 256
"""Entries allowed beyond two texts: small texts are not worth dropping at once."""
_MOST_NUMBERS = 16_384


class _Young(dict[_Key, _Value | None]):
    """The young generation, and behind it the old one."""

    def __init__(self) -> None:
        super().__init__()
        self.old: dict[_Key, _Value | None] = {}

    def __missing__(self, key: _Key) -> _Value | None:
        value = self.old.pop(key, None)
        if value is not None:
            self[key] = value
        return value


class Recent(Generic[_Key, _Value]):
    """A cache of two generations; values are never None."""

    def __init__(self, most: int) -> None:
        """``most``: entries of a generation at the end of a batch."""
        self._young: _Young[_Key, _Value] = _Young()
        self.get: Callable[[_Key], _Value | None] = self._young.__getitem__
        """The value of a key, which then counts as used; None if it is unknown or was dropped."""
        self._most = most
        self._needed = 0
        """Entries that one text needed."""
        self._turned = False

    def size(self) -> int:
        """Entries of both generations."""
        return len(self._young) + len(self._young.old)

    def each(self, keys: Iterable[_Key], make: Callable[[_Key], _Value]) -> list[_Value]:
        """The values of these keys; those that are unknown are made."""
        found = []
        for key in keys:
            value = self.get(key)
            if value is None:
                value = self[key] = make(key)
            found.append(value)
        return found

    def __setitem__(self, key: _Key, value: _Value) -> None:
        self._young[key] = value

    def next_text(self) -> None:
        """Call before each text, or each new version of one."""
        if self._turned:
            self._needed, self._turned = len(self._young), False
        if len(self._young) > 2 * self._needed + _SLACK:
            self._turn()

    def next_batch(self) -> None:
        """Call before each batch of machine code, whose needs are unknown."""
        if len(self._young) >= self._most:
            self._turn()

    def _turn(self) -> None:
        self._young.old = dict(self._young)
        self._young.clear()
        self._turned = True


class Caches:
    """All caches of one workspace, except its answers; for one thread at a time.

    Each cache has a class of its own, and there is one object of it here.
    """

    def __init__(self) -> None:
        self._parts: dict[Callable[[Caches], Any], Any] = {}
        self._recent: list[Recent[Any, Any]] = []

    def of(self, kind: Callable[[Caches], _Part]) -> _Part:
        """The object of this class, made on first use."""
        part: _Part | None = self._parts.get(kind)
        if part is None:
            part = self._parts[kind] = kind(self)
        return part

    def kinds(self) -> tuple[Callable[[Caches], Any], ...]:
        """The classes that have an object here."""
        return tuple(self._parts)

    def recent(self, most: int) -> Recent[Any, Any]:
        """A new cache that keeps ``most`` entries per generation at the end of a batch."""
        cache: Recent[Any, Any] = Recent(most)
        self._recent.append(cache)
        return cache

    def next_text(self) -> None:
        """Call before each text, or each new version of one, is analysed."""
        for cache in self._recent:
            cache.next_text()

    def next_batch(self) -> None:
        """Call before each batch of machine code is predicted."""
        for cache in self._recent:
            cache.next_batch()


class ContentNumbers:
    """Numbers for contents: equal contents have equal numbers, for as long as texts have them."""

    def __init__(self, caches: Caches) -> None:
        self._known: Recent[Hashable, int] = caches.recent(_MOST_NUMBERS)
        self._last = 0

    def of(self, content: Hashable) -> int:
        """The number of a content; never 0."""
        number = self._known.get(content)
        if number is None:
            number = self._known[content] = self.new()
        return number

    def new(self) -> int:
        """A number that no content has."""
        self._last += 1
        return self._last
