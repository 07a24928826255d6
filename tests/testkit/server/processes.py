"""Finds, kills and counts the processes that a server starts. Needs Linux's /proc."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec import Struct

PATIENCE = 30.0
"""Seconds; far more than a process takes to end."""


class Process(Struct, frozen=True):
    """A process at the time of a listing. ``started`` distinguishes it from a later one with the same
    number."""

    pid: int
    started: str
    command: str

    @property
    def is_worker(self) -> bool:
        return "spawn_main" in self.command

    @property
    def is_assembler(self) -> bool:
        """The child that holds Keystone."""
        return "keystone_backend" in self.command

    @property
    def niceness(self) -> int:
        """The nice value of a process: 0 is normal; above 0 it yields to others."""
        try:
            return os.getpriority(os.PRIO_PROCESS, self.pid) - os.getpriority(os.PRIO_PROCESS, 0)
        except ProcessLookupError:
            return 0

    def kill(self) -> None:
        """Kill the process without a chance to react; it may be gone already."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    @property
    def runs(self) -> bool:
        """Whether the process still runs."""
        return (seen := process(self.pid)) is not None and seen.started == self.started


def children(pid: int) -> list[int]:
    """Numbers of a process's children, including zombies."""
    found: list[int] = []
    tasks = Path(f"/proc/{pid}/task")
    if not Path("/proc/self/task").exists():
        pytest.skip("the list of child processes is read from /proc")
    # A child belongs to the thread that has started it.
    with contextlib.suppress(OSError):
        for task in tasks.iterdir():
            with contextlib.suppress(OSError):
                found += map(int, (task / "children").read_text().split())
    return found


def descendants(pid: int) -> Iterator[Process]:
    """All running descendants of a process."""
    for child in children(pid):
        if (seen := process(child)) is not None:
            yield seen
        yield from descendants(child)


def process(pid: int) -> Process | None:
    """The running process with a number; None for zombies."""
    fields = _fields(pid)
    if not fields or fields[0] in "ZX":
        return None
    with contextlib.suppress(OSError):
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        return Process(pid, fields[19], command)
    return None


def zombies(pid: int) -> list[int]:
    """Children that have ended and were not collected."""
    return [child for child in children(pid) if _state(child) == "Z"]


async def eventually(condition: Callable[[], object]) -> bool:
    """Whether a condition becomes true within a generous time."""
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            return False
        await asyncio.sleep(0.01)
    return True


def _fields(pid: int) -> list[str]:
    """The fields of /proc/PID/stat behind the name; empty if there is no such process."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return []


def _state(pid: int) -> str:
    return next(iter(_fields(pid)), "")
