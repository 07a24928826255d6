"""Digests of files, by which caches identify contents."""

from __future__ import annotations

import os
from hashlib import file_digest

from cyclelens.analyzer.common.recent import Caches, Recent
from cyclelens.analyzer.common.regular_files import open_regular

_MOST_FILES = 2048
_LARGEST = 4 << 30
"""Largest file, in bytes, that is digested."""


class FileDigests:
    """The digests of a workspace's files. A file is read again when its size, modification time or inode
    number differs."""

    def __init__(self, caches: Caches) -> None:
        self._digests: Recent[tuple[str, int, int, int], bytes] = caches.recent(_MOST_FILES)

    def of(self, path: str, maximum: int = _LARGEST) -> bytes:
        """The digest of a file. Raises OSError, also for a file that is not regular or has more than
        ``maximum`` bytes."""
        status = os.stat(path)
        key = path, status.st_ino, status.st_size, status.st_mtime_ns
        found = self._digests.get(key)
        if found is None:
            with open_regular(path, maximum) as file:
                found = self._digests[key] = file_digest(file, "blake2b").digest()
        return found
