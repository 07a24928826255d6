"""Temporary folders for external programs, always removed.

A folder is removed when its work ends, whatever the outcome. A killed process cannot do that, so every name
holds the process id of its maker, and the first folder made in any process removes those of dead processes.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator

_NAME = r"cyclelens-(\d{1,10})-\w+"
_swept = False


@contextlib.contextmanager
def folder() -> Iterator[str]:
    """An empty folder that exists while the context lasts. Raises OSError."""
    global _swept
    if not _swept:
        _swept = True
        sweep()
    with tempfile.TemporaryDirectory(prefix=f"cyclelens-{os.getpid()}-", ignore_cleanup_errors=True) as place:
        yield place


def sweep() -> None:
    """Removes the folders of this user's dead processes."""
    _remove(lambda process: not lives(process))


def remove_of(process: int) -> None:
    """Removes the folders of a process that was killed, or is about to be."""
    _remove(lambda owner: owner == process)


def _remove(chosen: Callable[[int], bool]) -> None:
    if os.name != "posix":
        return
    with contextlib.suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            found = re.fullmatch(_NAME, entry.name)
            if found and chosen(int(found[1])) and _is_ours(entry):
                shutil.rmtree(entry.path, ignore_errors=True)


def _is_ours(entry: os.DirEntry[str]) -> bool:
    status = entry.stat(follow_symlinks=False)
    return entry.is_dir(follow_symlinks=False) and status.st_uid == os.getuid()


def lives(process: int) -> bool:
    """True if a process with this id runs, or if that cannot be determined."""
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
