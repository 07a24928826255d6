"""Lets ``perf script`` print a recording, ``perf.data``, as text."""

from __future__ import annotations

import subprocess

from cyclelens.analyzer.common.regular_files import open_given
from cyclelens.analyzer.profiles.profile import ProfileError

MAGIC = b"PERFILE2"
"""The first bytes of a recording (tools/perf/Documentation/perf.data-file-format.txt of Linux)."""
_FIELDS = "comm,tid,time,period,event,ip,sym,symoff,dso"
_COMMAND = ("perf", "script", "--show-mmap-events", "--no-demangle", "--hide-call-graph")


def is_recording(path: str) -> bool:
    """Whether a file is a recording of ``perf record``. Raises OSError."""
    with open_given(path) as file:
        return file.read(len(MAGIC)) == MAGIC


def print_recording(path: str, target: str) -> None:
    """Write into ``target`` the samples of a recording, with their branches if it has any. Raises
    ProfileError."""
    for fields in (f"{_FIELDS},brstacksym", _FIELDS):
        with open(target, "wb") as output:
            try:
                done = subprocess.run(
                    [*_COMMAND, "--input", path, "-F", fields],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.PIPE,
                )
            except FileNotFoundError:
                raise ProfileError(
                    f"{path} is a recording, and perf, which prints it, is not installed: run `perf script > "
                    "profile.txt` where it was made, and give profile.txt"
                ) from None
            except OSError as error:
                raise ProfileError(f"perf cannot be run: {error.strerror or error}") from None
        if done.returncode == 0:
            return
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    raise ProfileError(f"{path}: perf script says: {lines[-1] if lines else f'status {done.returncode}'}")
