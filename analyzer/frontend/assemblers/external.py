"""Runs external programs (assemblers, the C compiler) in an empty folder, with limits, and kills them if they
hang.

They see only a few environment variables. If the kernel supports it, they can open only their own files, the
system's files and those that they are given.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from shutil import which
from typing import IO

from cyclelens.analyzer.common import temporary
from cyclelens.analyzer.frontend.assemblers import confinement
from msgspec import Struct, field

MEMORY_LIMIT = 1 << 30
"""Bytes of address space."""
FILE_LIMIT = 256 << 20
"""Bytes of one file that a program writes, and of what is read back."""
OUTPUT_LIMIT = 8 << 20
"""Bytes of the standard output."""
_MESSAGES_LIMIT = 1 << 20
"""Bytes of a program's messages that are read."""
_POLL_SECONDS = 0.05
_CHUNK = 1 << 16
_SHELL = "/bin/sh"
_LIMITS = 'ulimit -c 0; ulimit -t "$1"; ulimit -v "$2"; ulimit -f "$3"; shift 3; exec "$@"'
"""The shell sets the limits and then becomes the program; child processes inherit them. A system without some
limit goes without it."""
_VARIABLES = ("PATH", "LD_LIBRARY_PATH", "SystemRoot", "PATHEXT", "SDKROOT", "DEVELOPER_DIR")
"""Environment variables that programs see: where they and their libraries are. A text could make them print
any other variable, and options in variables would change their behaviour."""
_NOT_STARTED = (126, 127)
"""Exit codes of the shell and of the dynamic loader for a program that cannot be started."""
_KILLS = (signal.SIGTERM, getattr(signal, "SIGKILL", 0))
"""Signals that other processes send."""
_not_confined: set[str] = set()
"""Programs that cannot start while confined; usually none."""


class HungError(Exception):
    """The program died or was killed, because it took too long or too much, or because it was cancelled. The
    message is a sentence."""

    def __init__(self, message: str = "It took too long, or died.") -> None:
        super().__init__(message)


class KilledError(HungError):
    """The program was probably killed by another process."""


class TooMuchError(HungError):
    """The program writes more than the limit. ``written`` has the beginning of its outputs by file name; the
    standard output has an empty name."""

    def __init__(self, limit: int, written: Mapping[str, bytes]) -> None:
        super().__init__(f"It makes more than {limit >> 20} MB of this.")
        self.written = written


class ProgramResult(Struct, frozen=True):
    """Result of a run. ``files`` has the requested files that were written."""

    status: int
    output: bytes
    errors: str
    files: Mapping[str, bytes] = field(default_factory=dict)


def find_program(name: str) -> str | None:
    """Absolute path of a program on PATH. None if it is only found relative to the current folder, which may
    be an untrusted workspace."""
    found = which(name)
    if found is None or not os.path.isabs(found) or os.path.dirname(os.path.normpath(found)) == os.getcwd():
        return None
    return found


def run(job: ProgramRun) -> ProgramResult:
    """Run a job; once more if another process kills the program. Raises OSError and HungError."""
    try:
        done = job.run()
    except KilledError:
        done = job.run()
    if done.status in _NOT_STARTED and confinement.version() and job.command[0] not in _not_confined:
        # The installation needs files in unusual folders.
        _not_confined.add(job.command[0])
        done = job.run()
    return done


class ProgramRun(Struct, frozen=True):
    """A program to run in its own folder."""

    command: Sequence[str]
    timeout: float
    """Seconds of processor time; the limit of elapsed time is four times that."""
    text: str = ""
    """Standard input."""
    readable: Sequence[str] = ()
    """Files and folders that the program may read in addition to its own and the system's programs, libraries
    and headers. A kernel with Landlock refuses all others."""
    wanted: Sequence[str] = ()
    """Names of files in the folder that are read back."""
    given: Mapping[str, str] = field(default_factory=dict)
    """Files that are written into the folder first, by name."""
    file_limit: int = FILE_LIMIT
    """Bytes of one file that the program may write."""
    cancel: Callable[[], bool] = lambda: False

    def run(self) -> ProgramResult:
        """Run the program once. Raises OSError, HungError and KilledError."""
        with temporary.folder() as place:
            folder, source, messages = (Path(place, name) for name in ("run", "input", "messages"))
            folder.mkdir()
            source.write_text(self.text, encoding="utf-8", errors="replace")
            for name, content in self.given.items():
                target = folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(content, encoding="utf-8", errors="replace")
            with source.open("rb") as standard_input, messages.open("wb") as standard_error:
                process = self._start(str(folder), standard_input, standard_error)
            begun = time.monotonic()
            try:
                output = _output(process, self.timeout, self.cancel)
            except BaseException:
                _kill(process)
                raise
            with messages.open("rb") as file:
                errors = file.read(_MESSAGES_LIMIT).decode("utf-8", "replace")
            files = {name: found for name in self.wanted if (found := self._read(folder / name)) is not None}
        # Windows has neither these signals nor the file limit.
        if any(len(content) >= self.file_limit for content in files.values()):
            raise TooMuchError(self.file_limit, files)
        if process.returncode < 0:
            # The system, too, kills a program that takes too long, but not before its time is over.
            is_early = time.monotonic() - begun < self.timeout
            raise KilledError if is_early and -process.returncode in _KILLS else HungError
        return ProgramResult(process.returncode, output, errors, files)

    def _read(self, place: Path) -> bytes | None:
        with contextlib.suppress(OSError), place.open("rb") as file:
            return file.read(self.file_limit)
        return None

    def _start(
        self, folder: str, standard_input: IO[bytes], standard_error: IO[bytes]
    ) -> subprocess.Popen[bytes]:
        started: list[subprocess.Popen[bytes] | Exception] = []
        environment = _environment(folder)
        program = self.command[0]

        def start() -> None:
            # Confinement applies to a thread for good, so this one ends right after starting the program.
            try:
                if program not in _not_confined:
                    programs = (*confinement.SYSTEM, *confinement.installation(program, environment))
                    confinement.confine_this_thread(programs, self.readable, (folder, os.devnull))
                process = subprocess.Popen(
                    [*_limited(self.timeout, self.file_limit), *self.command],
                    stdin=standard_input,
                    stdout=subprocess.PIPE,
                    stderr=standard_error,
                    cwd=folder,
                    env=environment,
                )
                started.append(process)
            except Exception as error:
                started.append(error)

        _thread(start).join()
        (process,) = started
        if isinstance(process, Exception):
            raise process
        return process


def _thread(work: Callable[[], None]) -> threading.Thread:
    """A started thread. Raises OSError if no thread can be started."""
    thread = threading.Thread(target=work, name="cyclelens-external", daemon=True)
    try:
        thread.start()
    except RuntimeError as error:
        raise OSError(errno.EAGAIN, str(error)) from None
    return thread


def is_of_system(path: str, program: str) -> bool:
    """Whether a file belongs to the system's programs, libraries and headers, or to the program's
    installation."""
    real = os.path.realpath(path)
    places = (*confinement.SYSTEM, *confinement.installation(program, os.environ))
    return any(real.startswith(os.path.join(os.path.realpath(place), "")) for place in places)


def _environment(folder: str) -> dict[str, str]:
    known = {name: os.environ[name] for name in _VARIABLES if name in os.environ}
    return known | dict.fromkeys(("HOME", "TMPDIR", "TEMP", "TMP"), folder) | {"LC_ALL": "C"}


def _output(process: subprocess.Popen[bytes], timeout: float, cancel: Callable[[], bool]) -> bytes:
    """Standard output of the program until it ends. Raises HungError."""
    # On a busy machine elapsed time exceeds processor time, which is limited as well.
    end = time.monotonic() + 4 * timeout
    output = bytearray()

    def read() -> None:
        assert process.stdout is not None
        with process.stdout as pipe:
            while len(output) <= OUTPUT_LIMIT and (chunk := os.read(pipe.fileno(), _CHUNK)):
                output.extend(chunk)

    reader = _thread(read)
    while reader.is_alive():
        reader.join(_POLL_SECONDS)
        if reader.is_alive() and (cancel() or time.monotonic() > end):
            raise HungError
    # The reader stops at the limit, perhaps before this thread has looked for the first time.
    if len(output) > OUTPUT_LIMIT:
        raise TooMuchError(OUTPUT_LIMIT, {"": bytes(output[:OUTPUT_LIMIT])})
    while True:
        try:
            process.wait(_POLL_SECONDS)
            return bytes(output)
        except subprocess.TimeoutExpired:
            if cancel() or time.monotonic() > end:
                raise HungError from None


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill the program and its descendants. They share this process's group, so ending the group ends them,
    too."""
    with contextlib.suppress(OSError):
        if os.name == "posix":
            # A stopped process cannot start more children during the search.
            process.send_signal(signal.SIGSTOP)
            for child in _children(process.pid):
                os.kill(child, signal.SIGKILL)
    process.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=1)


def _children(pid: int) -> Iterator[int]:
    """Descendants of a process, children before parents, as far as the system tells."""
    with contextlib.suppress(OSError):
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            children = [int(child) for child in file.read().split()]
        for child in children:
            yield from _children(child)
            yield child


def _limited(timeout: float, file_limit: int) -> list[str]:
    """Command prefix that sets the limits, as far as the system supports them."""
    if os.name != "posix" or not os.access(_SHELL, os.X_OK):
        return []
    seconds, memory, blocks = max(int(timeout + 0.999), 1), MEMORY_LIMIT // 1024, file_limit // 512
    return [_SHELL, "-c", _LIMITS, "sh", str(seconds), str(memory), str(blocks)]
