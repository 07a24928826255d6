"""Folders for what external programs read and write, which never stay behind.

A folder is removed when its work ends, however that ends. A process that is killed cannot do that; so every
name holds the number of the process that made it, and whoever makes a folder first, in any process, removes
those of processes that are gone.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator

_NAME = re.compile(r"cyclelens-(\d{1,10})-\w+")
_swept = False


@contextlib.contextmanager
def folder() -> Iterator[str]:
    """An empty folder, for as long as the context lasts. Raises OSError."""
    global _swept
    if not _swept:
        _swept = True
        sweep()
    with tempfile.TemporaryDirectory(prefix=f"cyclelens-{os.getpid()}-", ignore_cleanup_errors=True) as place:
        yield place


def sweep() -> None:
    """Remove the folders of this user's processes that are gone."""
    _remove(lambda process: not lives(process))


def remove_of(process: int) -> None:
    """Remove the folders of a process that was killed, or is about to be."""
    _remove(lambda owner: owner == process)


def _remove(chosen: Callable[[int], bool]) -> None:
    if os.name != "posix":
        return
    with contextlib.suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            found = _NAME.fullmatch(entry.name)
            if found and chosen(int(found[1])) and _is_ours(entry):
                shutil.rmtree(entry.path, ignore_errors=True)


def _is_ours(entry: os.DirEntry[str]) -> bool:
    status = entry.stat(follow_symlinks=False)
    return entry.is_dir(follow_symlinks=False) and status.st_uid == os.getuid()


def lives(process: int) -> bool:
    """Whether a process of this number runs; where that cannot be asked, yes."""
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
