"""Troubles that ``soak.py`` makes: dead and suspended processes, a full disk, a wall clock that jumps.

Needs Linux's /proc. Processes are found by their session, so that those whose parent is gone are found, too.
"""

from __future__ import annotations

import asyncio
import mmap
import os
import random
import shutil
import signal
import struct
import subprocess
from collections import Counter
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

CLOCK = Path(__file__).with_name("shifted_clock.c")
_PAGE = os.sysconf("SC_PAGE_SIZE")
SUSPENDED = (0.2, 6.0)
"""Seconds; the longest are longer than an analysis may take."""
FULL = (1.0, 10.0)
YEARS = 12
"""Largest jump of the clock, to either side."""


class Process(Struct, frozen=True):
    """A process at the time of a listing. ``started`` tells it from a later one of the same number."""

    pid: int
    started: str
    memory: int
    """Resident bytes."""


def processes(session: int) -> list[Process]:
    """The processes of a session, except those that have ended and wait for their parent."""
    found = []
    for entry in os.listdir("/proc"):
        with suppress(OSError, IndexError):
            if entry.isdigit():
                # Behind the name: state, parent, group, session, ...
                fields = Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()
                if int(fields[3]) == session and fields[0] not in "ZX":
                    found.append(Process(int(entry), fields[19], int(fields[21]) * _PAGE))
    return found


class Clock:
    """The wall clock of the server's processes. Without a C compiler it stays as it is."""

    def __init__(self, folder: Path) -> None:
        self.environment: dict[str, str] = {}
        """What a process needs to have this clock."""
        library, file = folder / "shifted_clock.so", folder / "seconds"
        if shutil.which("cc") is None:
            return
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, CLOCK], check=True)
        file.write_bytes(bytes(8))
        self.environment = {"LD_PRELOAD": str(library), "SHIFTED_CLOCK": str(file)}
        with file.open("r+b") as opened:
            self._shift = mmap.mmap(opened.fileno(), 8)

    def set(self, seconds: int) -> None:
        """Let the clock run before the machine's by this much."""
        if self.environment:
            self._shift[:] = struct.pack("q", seconds)


class Disk:
    """A small disk, which this process may fill; ``soak.py`` has mounted it."""

    FILLING, TEMPORARY, STATE = "filling", "temporary", "state"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        for name in (self.TEMPORARY, self.STATE):
            (folder / name).mkdir()
        self.environment = {
            "TMPDIR": str(folder / self.TEMPORARY),
            "XDG_STATE_HOME": str(folder / self.STATE),
        }
        """Where a process writes to this disk."""

    def fill(self) -> None:
        """Leave no byte free."""
        with suppress(OSError), (self._folder / self.FILLING).open("ab", buffering=0) as file:
            while file.write(bytes(1 << 16)):
                pass

    def free(self) -> None:
        """Give everything back."""
        (self._folder / self.FILLING).unlink(missing_ok=True)

    def left(self) -> list[str]:
        """Files of others, and temporary folders, at any depth."""
        temporary, state = self._folder / self.TEMPORARY, self._folder / self.STATE
        found = [*temporary.rglob("*"), *(path for path in state.rglob("*") if path.is_file())]
        return sorted(str(path.relative_to(self._folder)) for path in found)


class Troubles:
    """Troubles at random, one at a time."""

    def __init__(self, session: int, disk: Disk | None, clock: Clock, chance: random.Random) -> None:
        """
        :param session: the session of the server, which is its process id, too.
        :param disk: None if there is none to fill.
        """
        self.counts: Counter[str] = Counter()
        self._session, self._disk, self._clock, self._chance = session, disk, clock, chance

    async def make(self, between: float) -> None:
        """Make trouble until cancelled, with a mean pause of ``between`` seconds; then everything is as it
        was, except the dead."""
        kinds = [self._kill, self._kill, self._suspend]
        kinds += [self._fill] if self._disk is not None else []
        kinds += [self._jump] if self._clock.environment else []
        try:
            while True:
                await asyncio.sleep(self._chance.uniform(0, 2 * between))
                await self._chance.choice(kinds)()
        finally:
            self._clock.set(0)

    async def _kill(self) -> None:
        """A worker or one of its programs dies."""
        below = [each for each in processes(self._session) if each.pid != self._session]
        if below:
            with suppress(ProcessLookupError):
                os.kill(self._chance.choice(below).pid, signal.SIGKILL)
                self.counts["killed"] += 1

    async def _suspend(self) -> None:
        """A process, perhaps the server itself, stops for a while."""
        victim = self._chance.choice(processes(self._session))
        try:
            with suppress(ProcessLookupError):
                os.kill(victim.pid, signal.SIGSTOP)
                self.counts["suspended"] += 1
            await asyncio.sleep(self._chance.uniform(*SUSPENDED))
        finally:
            if any(
                (each.pid, each.started) == (victim.pid, victim.started) for each in processes(self._session)
            ):
                with suppress(ProcessLookupError):
                    os.kill(victim.pid, signal.SIGCONT)

    async def _fill(self) -> None:
        """The disk of temporary and saved files is full for a while."""
        assert self._disk is not None
        try:
            self._disk.fill()
            self.counts["disk full"] += 1
            await asyncio.sleep(self._chance.uniform(*FULL))
        finally:
            self._disk.free()

    async def _jump(self) -> None:
        """The wall clock jumps."""
        years = self._chance.uniform(-YEARS, YEARS)
        self._clock.set(int(years * 365 * 24 * 3600))
        self.counts["clock jumps"] += 1
