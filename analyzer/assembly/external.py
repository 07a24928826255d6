"""Programs of the user's machine (assemblers, the C compiler): found on PATH, run with limits in an empty
folder, and killed when they hang."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

MEMORY_LIMIT = 1 << 30
"""Bytes of address space."""
FILE_LIMIT = 256 << 20
"""Bytes of one file that is written, and of what is read back."""
_POLL_SECONDS = 0.05
_SHELL = "/bin/sh"
_LIMITS = 'ulimit -c 0; ulimit -t "$1"; ulimit -v "$2"; ulimit -f "$3"; shift 3; exec "$@"'
"""Set by the shell and kept by what it becomes, children included. Systems without a limit go without."""


_OPTIONS = frozenset(["NASMENV"])
"""Variables with options for a program, of which nobody here knows."""


class HungError(Exception):
    """The program died, or was killed: it took too long or too much, or nobody waits for it any more."""


@dataclass(frozen=True, slots=True)
class Finished:
    """What a run left. ``files``: those that were asked for and written."""

    status: int
    output: bytes
    errors: str
    files: Mapping[str, bytes] = field(default_factory=dict)


def find_program(name: str) -> str | None:
    """The absolute path of a program on PATH; None if it is only found relative to the current folder, which
    may be a workspace that nobody has looked at."""
    found = shutil.which(name)
    if found is None or not os.path.isabs(found) or Path(found).parent == Path.cwd():
        return None
    return found


def run(
    command: Sequence[str],
    text: str = "",
    *,
    timeout: float,
    wanted: Sequence[str] = (),
    given: Mapping[str, str] | None = None,
    cancel: Callable[[], bool] = lambda: False,
) -> Finished:
    """Run a program in a folder of its own with ``text`` as its input.

    ``timeout`` in seconds of the processor; of the clock four times that. ``wanted``: names of files in
    the folder that are read back. ``given``: files that are put there before. Raises OSError and HungError.
    """
    with tempfile.TemporaryDirectory(prefix="cyclelens-") as folder:
        for name, content in (given or {}).items():
            place = Path(folder, name)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(content, encoding="utf-8")
        process = subprocess.Popen(
            [*_limited(timeout), *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env={name: value for name, value in os.environ.items() if name not in _OPTIONS} | {"LC_ALL": "C"},
        )
        try:
            output, errors = _communicate(process, text.encode("utf-8", "replace"), timeout, cancel)
        finally:
            if process.poll() is None:
                process.kill()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.communicate(timeout=1)
        files = {}
        for name in wanted:
            place = Path(folder, name)
            with contextlib.suppress(OSError):
                if place.stat().st_size <= FILE_LIMIT:
                    files[name] = place.read_bytes()
    if process.returncode < 0:
        raise HungError
    return Finished(process.returncode, output, errors.decode("utf-8", "replace"), files)


def _communicate(
    process: subprocess.Popen[bytes], data: bytes, timeout: float, cancel: Callable[[], bool]
) -> tuple[bytes, bytes]:
    # On a busy machine the clock runs ahead of the processor, whose time is limited, too.
    end = time.monotonic() + 4 * timeout
    given: bytes | None = data
    while True:
        try:
            return process.communicate(given, timeout=_POLL_SECONDS)
        except subprocess.TimeoutExpired:
            given = None
            if cancel() or time.monotonic() > end:
                raise HungError from None


def _limited(timeout: float) -> list[str]:
    """What stands in front of a command to limit it, as far as the system can do that."""
    if os.name != "posix" or not os.access(_SHELL, os.X_OK):
        return []
    seconds, memory, blocks = max(int(timeout + 0.999), 1), MEMORY_LIMIT // 1024, FILE_LIMIT // 512
    return [_SHELL, "-c", _LIMITS, "sh", str(seconds), str(memory), str(blocks)]
