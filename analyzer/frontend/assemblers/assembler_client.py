"""Parent side of Keystone's process: start, batches, timeouts, restarts and caching.

Keystone only confirms bytes that are known already, so a statement without an answer loses nothing. One child
serves a process for its whole life. A child that dies or hangs is replaced; the statement that it worked on
counts as refused.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from cyclelens.analyzer.common.recent import Recent

_PROGRAM = "from cyclelens.analyzer.frontend.assemblers.keystone_backend import main; main()"
COMMAND = ("-P", "-X", "utf8", "-c", _PROGRAM)
"""Arguments of the Python interpreter. -P keeps modules of the current folder out of the child. -c is 2 ms
faster than -m, which has to find the module first."""
_START_TIMEOUT = 20.0
"""Seconds; starting a process may take long on a loaded machine."""
_TIMEOUT = 5.0 if os.name == "posix" else 1.0
"""Seconds for a window of statements. On POSIX the child itself ends after 0.25 s of processor time in one of
them, and the parent only has to catch a sleeping child."""

Request = tuple[str, str]
"""Dialect and statement; ASCII without line ends."""


class AssemblerClient:
    """Encodes batches of statements. Safe to use from several threads and after a fork."""

    WINDOW = 64
    """Statements that are sent at once; few enough that neither pipe fills up."""
    MAXIMUM_DEATHS = 8
    """Children that one batch may kill before the rest of it is given up."""

    def __init__(self, command: Sequence[str] | None = None, timeout: float = _TIMEOUT) -> None:
        self._command = tuple(command) if command else (sys.executable, *COMMAND)
        self._timeout = timeout
        self._child: subprocess.Popen[bytes] | None = None
        self._owner = os.getpid()
        self._lock = threading.Lock()
        self._cache: Recent[Request, bytes] = Recent(100_000)
        self._is_ready = False
        """The child has greeted."""
        self._is_unusable = False
        """The child said that it cannot work here."""

    def start(self) -> None:
        """Start the child and return at once, so that it starts while the caller works. Without this, the
        first ``encode`` starts it."""
        with self._own_lock():
            self._start()

    def encode(
        self, requests: Iterable[Request], cancel: Callable[[], bool] = lambda: False
    ) -> Mapping[Request, bytes]:
        """The bytes of every request, empty if Keystone refuses it or did not answer. Repeated and cached
        requests cost nothing."""
        with self._own_lock():
            self._cache.next_text()
            found = {request: self._cache.get(request) for request in requests}
            missing = [request for request, code in found.items() if code is None]
            deaths = 0
            while missing and deaths <= self.MAXIMUM_DEATHS and not cancel():
                child = self._running()
                if child is None:
                    break
                window = missing[: self.WINDOW]
                replies = self._exchange(child, window)
                if len(replies) < len(window):
                    self._kill(child)
                    replies.append(b"")
                    deaths += 1
                for request, code in zip(window, replies, strict=False):
                    found[request] = self._cache[request] = code
                del missing[: len(replies)]
            return {request: code or b"" for request, code in found.items()}

    def close(self) -> None:
        """End the child; the next ``encode`` starts another one."""
        child = self._child
        if child is None or self._owner != os.getpid():
            return
        if self._is_ready and child.stdin is not None:
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                child.stdin.close()
                child.wait(timeout=0.5)
        self._kill(child)

    def _own_lock(self) -> threading.Lock:
        """The lock of this process. After a fork, the child and its lock belong to the parent process."""
        if self._owner != os.getpid():
            self._lock, self._child, self._owner = threading.Lock(), None, os.getpid()
        return self._lock

    def _start(self) -> None:
        """Start a child if none runs; there is none afterwards if that fails."""
        if self._child is not None and self._is_ready and self._child.poll() is not None:
            self._kill(self._child)
        if self._child is None and not self._is_unusable:
            pipe = subprocess.PIPE
            self._is_ready = False
            with contextlib.suppress(OSError):
                self._child = subprocess.Popen(
                    self._command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL
                )

    def _running(self) -> subprocess.Popen[bytes] | None:
        """The child, ready for statements; None if it cannot work."""
        self._start()
        child = self._child
        if child is not None and not self._is_ready:
            with _limited(child, _START_TIMEOUT):
                greeting = _line(child)
            self._is_ready = greeting == b"ready"
            if not self._is_ready:
                self._kill(child)
                self._is_unusable = greeting is not None
        return self._child

    def _kill(self, child: subprocess.Popen[bytes]) -> None:
        child.kill()
        child.wait()
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        self._child = None

    def _exchange(self, child: subprocess.Popen[bytes], window: Sequence[Request]) -> list[bytes]:
        """The replies to these statements; fewer if the child dies, hangs or answers nonsense."""
        assert child.stdin is not None
        replies: list[bytes] = []
        with _limited(child, self._timeout), contextlib.suppress(OSError, ValueError):
            child.stdin.write("".join(f"{dialect}\t{text}\n" for dialect, text in window).encode("ascii"))
            child.stdin.flush()
            while len(replies) < len(window) and (line := _line(child)) is not None:
                replies.append(bytes.fromhex(line.decode("ascii")))
        return replies


@contextmanager
def _limited(child: subprocess.Popen[bytes], seconds: float) -> Iterator[None]:
    """Kill the child if it takes longer."""
    timer = threading.Timer(seconds, child.kill)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _line(child: subprocess.Popen[bytes]) -> bytes | None:
    """The child's next line without its end; None if the child has ended."""
    assert child.stdout is not None
    line = child.stdout.readline()
    return line.rstrip(b"\r\n") if line.endswith(b"\n") else None


_shared: AssemblerClient | None = None


def shared_client() -> AssemblerClient:
    """This process's client. The first statement starts its child, and process exit ends it."""
    global _shared
    if _shared is None:
        _shared = AssemblerClient()
        atexit.register(_shared.close)
    return _shared
