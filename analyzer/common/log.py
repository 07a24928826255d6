"""The log: one line per job with its times, and the traceback of every defect."""

from __future__ import annotations

import os
from datetime import UTC, datetime

LOG = "CYCLELENS_LOG"
"""Environment variable with the path of the log file. ``--log FILE`` sets it, also for child processes."""


def write(kind: str, **fields: object) -> None:
    """Appends a line to the log file, if there is one: time (UTC), process, kind of entry, ``name=value``
    fields.

    If the file cannot be written, the line is lost and nothing else happens.
    """
    path = os.environ.get(LOG)
    if not path:
        return
    shown = (f"{value:.1f}" if isinstance(value, float) else value for value in fields.values())
    entry = " ".join(f"{name}={_quoted(str(value))}" for name, value in zip(fields, shown, strict=True))
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    _append(path, f"{now} {os.getpid()} {kind} {entry}\n")


def write_traceback(text: str) -> None:
    """Appends the indented traceback of a defect to the log file, if there is one."""
    path = os.environ.get(LOG)
    if path:
        write("defect", traceback=text.count("\n"))
        _append(path, "".join(f"    {line}\n" for line in text.splitlines()))


def _quoted(value: str) -> str:
    return value if value and value.isprintable() and not set(value) & set(" \"'") else repr(value)


def _append(path: str, text: str) -> None:
    # Several processes write: each entry is one call that appends.
    try:
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    except OSError:
        return
    try:
        os.write(file, text.encode(errors="backslashreplace"))
    except OSError:
        pass
    finally:
        os.close(file)
