"""The parent's side of the assembler child: start, batches, timeout, restart, blame, cache.

One child serves a process for its whole life. One that dies is replaced, and the statement that it had is
sent once more: it may have been somebody else who ended it. A statement on which two die, or one hangs, is
remembered and never sent again.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum

from cyclelens.analyzer.common.data_classes import dataclass
from cyclelens.analyzer.common.recent import Recent

_PROGRAM = "from cyclelens.analyzer.frontend.assemblers.keystone_backend import main; main()"
COMMAND = ("-P", "-X", "utf8", "-c", _PROGRAM)
"""Arguments to the Python interpreter; -P keeps modules of the current folder out of the child. What Python
loads to find a program by its module (-m) takes 2 ms."""

_FROM_OUTSIDE = [
    -getattr(signal, name) for name in ("SIGKILL", "SIGTERM", "SIGHUP", "SIGINT") if hasattr(signal, name)
]
"""How a child ends that somebody else has ended. Windows does not tell."""
_OUT_OF_TIME = -getattr(signal, "SIGPROF", 0) or None
"""How a child ends that a statement takes too long (child.py)."""

Request = tuple[str, str]
"""Dialect and statement, plain ASCII without line ends."""


class Failure(StrEnum):
    """Why there are no bytes."""

    REFUSED = "refused"
    """The assembler does not accept the statement."""
    TIMEOUT = "timeout"
    """The assembler hung or died on it, or had to be given up before its turn."""
    UNAVAILABLE = "unavailable"
    """The assembler cannot be started."""
    CANCELLED = "cancelled"
    """Nobody waits for the answer any more."""


@dataclass(frozen=True, slots=True)
class Reply:
    """Bytes, or why there are none."""

    code: bytes = b""
    failure: Failure | None = None
    reason: str = ""


class _Gone(Exception):
    """The child has ended or does not answer."""


class _Silent(_Gone):
    """It does not answer."""


class _Unusable(Exception):
    """The child says itself that it cannot work, or there is no such program; the message says why."""


class _Child:
    """One running child with a thread that reads its replies."""

    def __init__(self, command: Sequence[str], start_timeout: float) -> None:
        """Raises _Gone if it ends or is silent, _Unusable and OSError."""
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._replies: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, name="assembler replies", daemon=True)
        self._reader.start()
        try:
            greeting = self.read(start_timeout).decode(errors="replace")
        except _Gone:
            self.kill()
            raise
        if greeting != "ready":
            self.kill()
            raise _Unusable(greeting.partition("\t")[2] or "it does not greet")

    def _read(self) -> None:
        assert self.process.stdout is not None
        with contextlib.suppress(OSError, ValueError):
            for line in self.process.stdout:
                self._replies.put(line)
        self._replies.put(b"")

    def read(self, timeout: float) -> bytes:
        """The next line without its end. Raises _Silent on a timeout and _Gone at the end."""
        try:
            line = self._replies.get(timeout=timeout)
        except queue.Empty:
            raise _Silent from None
        if not line:
            raise _Gone
        return line.rstrip(b"\n")

    def write(self, data: bytes) -> None:
        """Raises _Gone if nobody reads."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(data)
            self.process.stdin.flush()
        except (OSError, ValueError):
            raise _Gone from None

    def kill(self, *, wait: bool = False) -> int:
        """End the process and collect it, so that no zombie stays. ``wait``: give one that is about to end by
        itself the time to do so. Returns how it has ended."""
        if wait:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=0.1)
        self.process.kill()
        self.process.wait()
        self._reader.join(timeout=1)
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        return self.process.returncode

    def close(self) -> None:
        """Let the child end by itself, else kill it."""
        if self.process.stdin is not None:
            with contextlib.suppress(OSError):
                self.process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=0.5)
        self.kill()


class AssemblerClient:
    """Encodes batches of statements. Safe to use from several threads and after a fork."""

    WINDOW = 64
    """Statements under way at once: few enough that neither pipe can fill up."""
    MAXIMUM_BLAMED = 8
    """Statements of one batch on which children may die before the rest of it is given up."""
    START_TIMEOUT = 20.0
    """Seconds; a loaded machine may be slow to start a process."""

    def __init__(self, command: Sequence[str] | None = None, timeout: float | None = None) -> None:
        """``timeout``: seconds without a reply after which the child is killed. The child itself ends after a
        quarter of a second of processor time in one statement where the system can do that, so there the
        parent's limit only has to catch a sleeping child and must not blame a statement for a busy machine.
        """
        self._command = tuple(command) if command else (sys.executable, *COMMAND)
        child_ends_itself = timeout is None and os.name == "posix"
        self._timeout = timeout or (2.0 if child_ends_itself else 0.25)
        self._remember_silence = not child_ends_itself
        self._child: _Child | None = None
        self._owner = os.getpid()
        self._lock = threading.Lock()
        self._cache: Recent[Request, Reply] = Recent(100_000)
        self._deadly: dict[Request, Reply] = {}
        self._unusable = ""

    def encode(
        self, requests: Iterable[Request], cancel: Callable[[], bool] = lambda: False
    ) -> Mapping[Request, Reply]:
        """A reply for every request; repeated and already known ones cost nothing."""
        wanted = list(dict.fromkeys(requests))
        if self._owner != os.getpid():
            # After a fork the child and the lock belong to the other process.
            self._lock = threading.Lock()
            self._child = None
            self._owner = os.getpid()
        with self._lock:
            self._cache.next_text()
            results = {
                request: known
                for request in wanted
                if (known := self._cache[request] or self._deadly.get(request)) is not None
            }
            missing = [request for request in wanted if request not in results]
            if missing:
                results.update(self._ask(missing, cancel))
            return results

    def close(self) -> None:
        """End the child; the next call of encode starts another."""
        if self._owner == os.getpid() and self._child is not None:
            self._child.close()
            self._child = None

    def _ask(self, requests: list[Request], cancel: Callable[[], bool]) -> dict[Request, Reply]:
        results: dict[Request, Reply] = {}
        suspect: Request | None = None
        """The statement that a child had when it died."""
        blamed = 0
        done = 0
        while done < len(requests):
            try:
                child = self._running()
            except (OSError, _Unusable) as error:
                reply = Reply(failure=Failure.UNAVAILABLE, reason=str(error))
                results.update(dict.fromkeys(requests[done:], reply))
                return results
            try:
                done = self._exchange(child, requests, done, results, cancel)
                if done < len(requests):
                    reply = Reply(failure=Failure.CANCELLED)
                    results.update(dict.fromkeys(requests[done:], reply))
                    return results
            except _Gone as gone:
                is_silent = isinstance(gone, _Silent)
                # One that has died by itself says why; it may still be about to.
                how = child.kill(wait=not is_silent)
                self._child = None
                # Replies come in order, so the first one missing is of the statement it died on.
                while done < len(requests) and requests[done] in results:
                    done += 1
                if requests[done] != suspect and not is_silent and how != _OUT_OF_TIME:
                    suspect = requests[done]
                    continue
                culprit = Reply(failure=Failure.TIMEOUT, reason="the assembler hung or died on it")
                results[requests[done]] = culprit
                if self._remember_silence if is_silent else how not in _FROM_OUTSIDE:
                    self._deadly[requests[done]] = culprit
                done += 1
                blamed += 1
                if blamed > self.MAXIMUM_BLAMED:
                    reply = Reply(
                        failure=Failure.TIMEOUT, reason="the assembler died too often before its turn"
                    )
                    results.update(dict.fromkeys(requests[done:], reply))
                    return results
        return results

    def _running(self) -> _Child:
        """The child, started if need be, and once more if it dies meanwhile. Raises OSError if there is none
        now and _Unusable if there never will be one."""
        if self._child is not None and self._child.process.poll() is not None:
            self._child.kill()
            self._child = None
        if self._child is None:
            if self._unusable:
                raise _Unusable(self._unusable)
            try:
                self._child = self._started() or self._started()
            except _Unusable as error:
                self._unusable = str(error)
                raise
        if self._child is None:
            raise OSError("it ended while starting, twice in a row")
        return self._child

    def _started(self) -> _Child | None:
        """A new child; None if it dies meanwhile. Raises OSError and _Unusable."""
        try:
            return _Child(self._command, self.START_TIMEOUT)
        except _Silent:
            raise OSError(f"it does not answer within {self.START_TIMEOUT:g} s") from None
        except _Gone:
            return None

    def _exchange(
        self,
        child: _Child,
        requests: list[Request],
        first: int,
        results: dict[Request, Reply],
        cancel: Callable[[], bool],
    ) -> int:
        """Send and receive; returns how many requests are answered (fewer than all if cancelled)."""
        sent = first
        for number in range(first, len(requests)):
            if sent == number or sent - number < self.WINDOW // 2:
                stop = len(requests) if not cancel() else sent
                upper = min(number + self.WINDOW, stop)
                if upper <= sent == number:
                    return number
                if upper > sent:
                    child.write(
                        b"".join(
                            f"{i}\t{requests[i][0]}\t{requests[i][1]}\n".encode("ascii")
                            for i in range(sent, upper)
                        )
                    )
                    sent = upper
            line = child.read(self._timeout).decode("ascii", errors="replace")
            answered, _, result = line.partition("\t")
            if answered != str(number):
                raise _Gone
            results[requests[number]] = self._cache[requests[number]] = _reply(result)
        return len(requests)


def _reply(result: str) -> Reply:
    if result.startswith("!"):
        return Reply(failure=Failure.REFUSED, reason=result[1:])
    try:
        return Reply(bytes.fromhex(result))
    except ValueError:
        return Reply(failure=Failure.REFUSED, reason="the assembler's answer is not understood")


_shared: AssemblerClient | None = None


def shared_client() -> AssemblerClient:
    """The client of this process; its child is started by the first statement and ended at exit."""
    global _shared
    if _shared is None:
        _shared = AssemblerClient()
        atexit.register(_shared.close)
    return _shared
