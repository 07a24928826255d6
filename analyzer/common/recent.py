"""Caches that keep the entries of the latest texts and drop older ones; and the set of a workspace's caches.

There are two generations: a used entry moves into the young one. Once that holds much more than one text
needs, it becomes the old one, and the previous old one is dropped. So a text of any size stays cached, and
abandoned edits do not. Generations change between texts only (or batches of machine code).
"""

from __future__ import annotations

import os
from collections.abc import Callable

from cyclelens.analyzer.common.regular_files import open_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    _Key = TypeVar("_Key")
    _Value = TypeVar("_Value")
    _Part = TypeVar("_Part")

_SLACK = 256
"""Entries allowed beyond two texts: small texts are not worth dropping at once."""
_MOST_FILES = 2048
_LARGEST = 4 << 30
"""Largest file, in bytes, that is digested."""


class Recent(dict["_Key", "_Value | None"]):
    """Values by key; none of them is None. ``recent[key]`` is the value, which counts as used; None if it is
    not known (any more).

    A dictionary, because every instruction asks several of these: it is the young generation.
    """

    def __init__(self, most: int) -> None:
        """``most``: entries of a generation at the end of a batch."""
        super().__init__()
        self._old: dict[_Key, _Value | None] = {}
        self._most = most
        self._needed = 0
        """Entries that one text used."""
        self._turned = False

    __hash__ = object.__hash__  # type: ignore[assignment]
    __eq__ = object.__eq__

    def size(self) -> int:
        """Entries of both generations."""
        return len(self) + len(self._old)

    def get(self, key: _Key) -> _Value | None:  # type: ignore[override]
        """As ``recent[key]``, which is quicker; a dictionary would ask the young generation alone."""
        return self[key]

    __missing__ = dict.get  # None, without Python: most of what is asked for in vain is new

    def next_text(self) -> None:
        """Another text is about to be worked on, or a later version of one."""
        if self._turned:
            self._needed, self._turned = len(self), False
        if len(self) > 2 * self._needed + _SLACK:
            self._turn()

    def next_batch(self) -> None:
        """More machine code is about to be worked on; what it needs is not known."""
        if len(self) >= self._most:
            self._turn()

    def _turn(self) -> None:
        self._old = dict(self)
        self.clear()
        self._turned = True
        self.__class__ = _Turned


class _Turned(Recent["_Key", "_Value"]):
    """One with an old generation."""

    def __missing__(self, key: _Key) -> _Value | None:  # type: ignore[override]
        value = self._old.pop(key, None)
        if value is not None:
            self[key] = value
        return value


class Caches(dict["Callable[[Caches], Any]", "Any"]):
    """All that one workspace remembers beside its answers. Whoever remembers something has a class for it,
    and asks for the only object of that class here. For one thread at a time.

    A dictionary by these classes, because every block asks eight times.
    """

    def __init__(self) -> None:
        super().__init__()
        self._recent: list[Recent[Any, Any]] = []

    __hash__ = object.__hash__  # type: ignore[assignment]
    __eq__ = object.__eq__

    def __bool__(self) -> bool:
        return True

    if TYPE_CHECKING:

        def of(self, kind: Callable[[Caches], _Part]) -> _Part:
            """The object of this class, made when it is first asked for."""
            ...

    else:
        of = dict.__getitem__

    def __missing__(self, kind: Callable[[Caches], _Part]) -> _Part:
        part = self[kind] = kind(self)
        return part

    def recent(self, most: int) -> Recent[Any, Any]:
        """A new one of these caches."""
        cache: Recent[Any, Any] = Recent(most)
        self._recent.append(cache)
        return cache

    def next_text(self) -> None:
        """Another text is about to be analysed, or a later version of one."""
        for cache in self._recent:
            cache.next_text()

    def next_batch(self) -> None:
        """More machine code is about to be predicted."""
        for cache in self._recent:
            cache.next_batch()


class Contents:
    """Digests of files, by which caches identify contents. A file is read again when its size, modification
    time or inode number differs."""

    def __init__(self, caches: Caches) -> None:
        self._digests: Recent[tuple[str, int, int, int], bytes] = caches.recent(_MOST_FILES)

    def of(self, path: str, maximum: int = _LARGEST) -> bytes:
        """The digest of a file. Raises OSError, also for a file that is not regular or has
        more than ``maximum`` bytes."""
        status = os.stat(path)
        key = path, status.st_ino, status.st_size, status.st_mtime_ns
        found = self._digests[key]
        if found is None:
            # Here, because commands that remember nothing of files start faster without it.
            from hashlib import file_digest

            with open_regular(path, maximum) as file:
                found = self._digests[key] = file_digest(file, "blake2b").digest()
        return found
