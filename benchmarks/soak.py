"""Runs a server under hostile edits and failures for a long time; reports growth, leftovers and lost hints.

    python benchmarks/soak.py [--minutes 60] [--documents 20] [--seed 1] [--pause 0.2] [--between 6]

Documents of four kinds are opened, edited at random (half-typed lines, unexpected names, files that do not
end, macro bombs, very long lines), queried and closed again. Meanwhile processes of the server are killed
and suspended, the disk of its temporary and saved files is full, and the wall clock jumps by years. Every
minute one line shows the server's memory, that of all processes below it, open descriptors, processes, and
temporary files. Then the troubles end, every document is edited once more, and a fresh server must show the
same of each. The exit code is 0 only if that holds, the server survived and ended properly, its memory did
not grow, there was no internal error, and no process and no file is left.

The small disk is a tmpfs in a mount namespace of this process; where the system allows none, no disk is
filled.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct
from soaked_server import TEXTS, Shown, SoakedServer
from troubles import Clock, Disk, Troubles, processes

SETTINGS = {"debounceMs": 50, "timeoutMs": 3000}
QUIET = {"debounceMs": 50, "timeoutMs": 60_000, "advice": False, "hints": {"change": False}}
"""At the end: the load of the machine must not decide, and a fresh server has no older figures."""
PATIENCE = 120.0
"""Seconds for the last analysis of all documents together."""
GROWTH = 1.25
"""Memory of the server in the last third, over that in the second; the first third fills caches."""
DISK_MEGABYTES = 64
INSIDE = "CYCLELENS_SOAK_DISK"
"""Set in the environment once this process has a mount namespace."""


class Sample(Struct, frozen=True):
    """The server at one moment."""

    seconds: float
    memory: float
    """MiB that are resident, of the server alone."""
    below: float
    """The same, of all processes below it together."""
    descriptors: int
    processes: int
    left: int
    """Files and folders of the server on the small disk."""
    edits: int
    troubles: tuple[int, ...]


COLUMNS = ("minute", "server MiB", "workers MiB", "descriptors", "processes", "files", "edits")
TROUBLES = ("killed", "suspended", "disk full", "clock jumps")


def sample(server: SoakedServer, disk: Disk, troubles: Troubles, seconds: float) -> Sample:
    """The server now."""
    seen = processes(server.pid)
    memory = {each.pid: each.memory / 2**20 for each in seen}
    own = memory.pop(server.pid, 0.0)
    counts = tuple(troubles.counts[name] for name in TROUBLES)
    descriptors = len(os.listdir(f"/proc/{server.pid}/fd"))
    return Sample(
        seconds, own, sum(memory.values()), descriptors, len(seen), len(disk.left()), server.edits, counts
    )


def row(shown: Sample) -> str:
    """A line of the table."""
    values = (
        f"{shown.seconds / 60:.1f}",
        f"{shown.memory:.0f}",
        f"{shown.below:.0f}",
        shown.descriptors,
        shown.processes,
        shown.left,
        shown.edits,
        *shown.troubles,
    )
    titles = (*COLUMNS, *TROUBLES)
    return "  ".join(f"{value:>{len(title)}}" for title, value in zip(titles, values, strict=True))


def grown(samples: Sequence[Sample]) -> Iterator[str]:
    """A sentence if the server's memory grew."""
    third = len(samples) // 3
    if third:
        earlier, later = (
            sum(each.memory for each in part) / third
            for part in (samples[third : 2 * third], samples[-third:])
        )
        if later > GROWTH * earlier:
            yield f"the server's memory grew from {earlier:.0f} to {later:.0f} MiB"


def compared(soaked: dict[str, Shown | None], fresh: dict[str, Shown | None]) -> Iterator[str]:
    """A sentence for each document of which the two servers show different things."""
    for name, shown in soaked.items():
        other = fresh[name]
        if shown is None or other is None:
            which = [text for text, found in (("soaked", shown), ("fresh", other)) if found is None]
            yield f"{name}: no answer of the {' and the '.join(which)} server"
        elif shown != other:
            for part in ("regions", "problems", "hints"):
                mine, its = set(getattr(shown, part)), set(getattr(other, part))
                if mine != its:
                    yield f"{name}: {part}: soaked {sorted(mine - its)[:3]}, fresh {sorted(its - mine)[:3]}"


async def shown_by(server: SoakedServer, names: Sequence[str]) -> dict[str, Shown | None]:
    """What a server shows of documents when it has nothing left to do."""
    begun, found = time.monotonic(), {}
    for name in names:
        found[name] = await server.shown(name, max(begun + PATIENCE - time.monotonic(), 1.0))
    return found


class Soak:
    """One run in folders of its own."""

    def __init__(self, place: Path, documents: int, seed: int) -> None:
        self._seed = seed
        self._folder, self._clock = place / "workspace", Clock(place)
        self._log = place / "errors"
        small = place / "disk"
        for folder in (self._folder, small):
            folder.mkdir()
        self._mounted = _mount(small)
        self._disk = Disk(small)
        suffixes = list(TEXTS)
        self._names = tuple(f"d{index}{suffixes[index % len(suffixes)]}" for index in range(documents))
        os.mkfifo(self._folder / "fifo")
        commands = []
        for name in self._names:
            (self._folder / name).write_text(TEXTS[Path(name).suffix][0])
            if name.endswith(".c"):
                commands.append(f'{{"directory": ".", "file": "{name}", "command": "cc -O2 -c {name}"}}')
        (self._folder / "compile_commands.json").write_text(f"[{', '.join(commands)}]")

    async def run(self, minutes: float, pause: float, between: float) -> list[str]:
        """Print the table. Returns what went wrong.

        :param pause: seconds between two steps of the editor.
        :param between: mean seconds between two troubles.
        """
        server = await self._started(SETTINGS, self._clock.environment)
        troubles = Troubles(
            server.pid, self._disk if self._mounted else None, self._clock, random.Random(self._seed + 1)
        )
        making = asyncio.create_task(troubles.make(between))
        samples: list[Sample] = []
        begun, told = time.monotonic(), 0.0
        print("  ".join((*COLUMNS, *TROUBLES)), flush=True)
        while (passed := time.monotonic() - begun) < 60 * minutes and server.is_alive:
            server.step()
            await asyncio.sleep(pause)
            if passed >= told:
                told += 60
                samples.append(sample(server, self._disk, troubles, passed))
                print(row(samples[-1]), flush=True)
        making.cancel()
        with suppress(asyncio.CancelledError):
            await making
        if not server.is_alive:
            return ["the server has died"]
        found = [*grown(samples), *await self._checked(server)]
        samples.append(sample(server, self._disk, troubles, time.monotonic() - begun))
        print(row(samples[-1]), flush=True)
        found += await self._ended(server)
        print(f"{server.edits} edits, {server.answers} answers; messages: {dict(server.told)}")
        return [*found, *(f"internal error, {count} times: {text}" for text, count in server.failed.items())]

    async def _started(self, settings: Mapping[str, object], environment: Mapping[str, str]) -> SoakedServer:
        server = SoakedServer(self._folder, self._log, self._names, random.Random(self._seed))
        await server.start(settings, {**self._disk.environment, **environment})
        return server

    async def _checked(self, server: SoakedServer) -> list[str]:
        """Compare with a fresh server."""
        server.configure(QUIET)
        server.touch_all()
        soaked = await shown_by(server, self._names)
        fresh = await self._started(QUIET, {})
        for name, text in server.texts.items():
            fresh.open(name, text)
        found = list(compared(soaked, await shown_by(fresh, self._names)))
        await fresh.end()
        regions = [region for shown in soaked.values() if shown for region in shown.regions]
        hints = sum(len(shown.hints) for shown in soaked.values() if shown)
        print(f"{len(soaked)} documents compared: {len(regions)} regions, {hints} hints")
        return found

    async def _ended(self, server: SoakedServer) -> list[str]:
        """Shut the server down and look for what is left."""
        code = await server.end()
        await asyncio.sleep(1)
        running, left = processes(server.pid), self._disk.left()
        print(f"exit {code}; {len(running)} processes and {len(left)} files left; standard error:")
        print(self._log.read_text(errors="replace")[-2000:])
        found = [f"exit code {code}"] if code else []
        found += [f"{len(running)} processes left"] if running else []
        found += [f"files left: {left[:9]}"] if left else []
        return found


def _mount(folder: Path) -> bool:
    """Make a folder a small disk. Returns False where that is not possible."""
    if INSIDE not in os.environ:
        return False
    size = f"size={DISK_MEGABYTES}m"
    return subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", str(folder)]).returncode == 0


def _with_mounts() -> None:
    """Run this program again in a mount namespace, which takes the disk along when it ends."""
    if INSIDE in os.environ or shutil.which("unshare") is None:
        return
    space = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--user", "--map-root-user"])]
    if subprocess.run([*space, "true"], capture_output=True).returncode == 0:
        os.execvpe("unshare", [*space, sys.executable, *sys.argv], {**os.environ, INSIDE: "1"})


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--documents", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pause", type=float, default=0.2, help="seconds between two steps")
    parser.add_argument("--between", type=float, default=6, help="mean seconds between two troubles")
    options = parser.parse_args()
    _with_mounts()
    with tempfile.TemporaryDirectory() as place:
        run = Soak(Path(place), options.documents, options.seed)
        found = asyncio.run(run.run(options.minutes, options.pause, options.between))
        if INSIDE in os.environ:
            subprocess.run(["umount", str(Path(place, "disk"))], capture_output=True)
    for sentence in found:
        print(sentence)
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
