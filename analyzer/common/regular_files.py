"""Opens files that a text, a project or a setting names: only regular files up to a given size.

Opening a FIFO blocks, a device has no end, and a sparse file of a few bytes on disk can be larger than
memory. The checks apply to the open descriptor, not to the name.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from io import BufferedReader, TextIOWrapper
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import BinaryIO, TypeGuard

STREAMED = 1 << 40
"""Largest file, in bytes, that is read piece by piece."""
AT_ONCE = 256 << 20
"""Largest file, in bytes, that is read as a whole: figures, a list, or code of one file."""
_PART = 64 << 20
_OPENED = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")

_FLAGS = os.O_RDONLY | getattr(os, "O_BINARY", 0)
for _name in ("O_CLOEXEC", "O_NOCTTY", "O_NONBLOCK"):
    _FLAGS |= getattr(os, _name, 0)


_NO_PATH = re.compile("[\0\ud800-\udfff]")


def is_plain(value: object) -> TypeGuard[str]:
    """Whether the value is a string that the system accepts: without NUL characters and lone surrogates."""
    return isinstance(value, str) and _NO_PATH.search(value) is None


def open_regular(path: str | os.PathLike[str], maximum: int) -> BufferedReader:
    """Opens a regular file of at most ``maximum`` bytes for reading.

    Raises OSError, whose ``strerror`` says what is wrong; an impossible path (with a NUL) counts as a missing
    file.
    """
    try:
        descriptor = os.open(path, _FLAGS)
    except ValueError:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path) from None
    try:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", path)
        if status.st_size > maximum:
            raise _too_large(path, maximum)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_regular(path: str | os.PathLike[str], maximum: int) -> bytes:
    """Contents of such a file. Raises OSError like ``open_regular``, also for a file without a size that does
    not end (some under ``/proc``)."""
    with open_regular(path, maximum) as file:
        return read_opened(file, path, maximum)


def open_given(path: str | os.PathLike[str], maximum: int = STREAMED) -> BufferedReader:
    """Opens a file named on a command line: a regular file, or one that the shell has opened, such as a pipe
    by ``<(command)``. Raises OSError like ``open_regular``."""
    if os.fspath(path).startswith(_OPENED):
        return open(path, "rb")
    return open_regular(path, maximum)


def read_given(path: str | os.PathLike[str], maximum: int) -> bytes:
    """Contents of such a file. Raises OSError like ``read_regular``."""
    with open_given(path, maximum) as file:
        return read_opened(file, path, maximum)


def open_text(path: str | os.PathLike[str], encoding: str = "utf-8") -> TextIOWrapper:
    """Opens such a file as text to be read piece by piece, with its line ends unchanged."""
    return TextIOWrapper(open_given(path), encoding, "replace", newline="")


def is_regular(path: str | os.PathLike[str]) -> bool:
    """True if the name, links followed, is a regular file."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def check_written(path: str | os.PathLike[str]) -> None:
    """Raises OSError if a file named on a command line to be written is a FIFO, which waits for a reader, a
    device or a socket. What the shell has opened, such as ``>(command)``, and the null device pass."""
    name = os.fspath(path)
    if name == os.devnull or name.startswith((*_OPENED, "/dev/stdout", "/dev/stderr")):
        return
    try:
        mode = os.stat(name).st_mode
    except (OSError, ValueError):
        return  # a new file, or one whose opening says what is wrong
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise OSError(errno.EINVAL, "it is not a regular file", path)


def read_opened(file: BinaryIO, path: str | os.PathLike[str], maximum: int) -> bytes:
    """The rest of an open file. Raises OSError if it has more than ``maximum`` bytes."""
    parts: list[bytes] = []
    size = 0
    while size <= maximum and (part := file.read(min(_PART, maximum + 1 - size))):
        parts.append(part)
        size += len(part)
    if size > maximum:
        raise _too_large(path, maximum)
    return b"".join(parts)


def _too_large(path: str | os.PathLike[str], maximum: int) -> OSError:
    size = f"{maximum >> 30} GB" if maximum >= 1 << 30 else f"{maximum >> 20} MB"
    return OSError(errno.EFBIG, f"it has more than {size}", path)
