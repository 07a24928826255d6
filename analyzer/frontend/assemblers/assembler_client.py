"""Parent side of the assembler child process: start, batches, timeouts, restarts and caching.

One child serves a process for its whole life. A child that dies is replaced, and its current statement is
sent once more, because something else may have ended the child. A statement on which two children die, or one
hangs, is remembered and never sent again.
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

from cyclelens.analyzer.common.recent import Recent
from msgspec import Struct

_PROGRAM = "from cyclelens.analyzer.frontend.assemblers.keystone_backend import main; main()"
COMMAND = ("-P", "-X", "utf8", "-c", _PROGRAM)
"""Arguments of the Python interpreter. -P keeps modules of the current folder out of the child. -c is 2 ms
faster than -m, which has to find the module first."""

_FROM_OUTSIDE = [
    -getattr(signal, name) for name in ("SIGKILL", "SIGTERM", "SIGHUP", "SIGINT") if hasattr(signal, name)
]
"""Return codes of a child that another process ended. Windows does not tell."""
_OUT_OF_TIME = -getattr(signal, "SIGPROF", 0) or None
"""Return code of a child that ran out of processor time for a statement (child.py)."""

Request = tuple[str, str]
"""Dialect and statement; ASCII without line ends."""


class Failure(StrEnum):
    """Why a request has no bytes."""

    REFUSED = "refused"
    """The assembler rejects the statement."""
    TIMEOUT = "timeout"
    """The assembler hung or died on the statement, or was given up before its turn."""
    UNAVAILABLE = "unavailable"
    """The assembler cannot be started."""
    CANCELLED = "cancelled"
    """The caller cancelled the request."""


class Reply(Struct, frozen=True):
    """The bytes of a statement, or why there are none."""

    code: bytes = b""
    failure: Failure | None = None
    reason: str = ""


class _Gone(Exception):
    """The child ended or does not answer."""


class _Silent(_Gone):
    """The child does not answer."""


class _Unusable(Exception):
    """The program does not exist, or the child reports that it cannot work; the message says why."""


class _Child:
    """A running child with a thread that reads its replies."""

    def __init__(self, command: Sequence[str], start_timeout: float) -> None:
        """Raises _Gone if the child ends or is silent, _Unusable if it reports a failure, and OSError."""
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
        """The next line without its newline. Raises _Silent on a timeout and _Gone at the end."""
        try:
            line = self._replies.get(timeout=timeout)
        except queue.Empty:
            raise _Silent from None
        if not line:
            raise _Gone
        return line.rstrip(b"\n")

    def write(self, data: bytes) -> None:
        """Raises _Gone if the child does not read."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(data)
            self.process.stdin.flush()
        except (OSError, ValueError):
            raise _Gone from None

    def kill(self, *, wait: bool = False) -> int:
        """Kill and reap the process; returns its return code. With ``wait``, a process that is about to end
        by itself gets 0.1 s to do so."""
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
        """Let the child end by itself; kill it if it does not."""
        if self.process.stdin is not None:
            with contextlib.suppress(OSError):
                self.process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=0.5)
        self.kill()


class AssemblerClient:
    """Encodes batches of statements. Safe to use from several threads and after a fork."""

    WINDOW = 64
    """Maximum number of unanswered statements; small enough that neither pipe fills up."""
    MAXIMUM_BLAMED = 8
    """Statements of one batch that may kill children before the rest of the batch is given up."""
    START_TIMEOUT = 20.0
    """Seconds; starting a process may take long on a loaded machine."""

    def __init__(self, command: Sequence[str] | None = None, timeout: float | None = None) -> None:
        """``timeout``: seconds without a reply before the child is killed. On POSIX the child itself ends
        after 0.25 s of processor time in one statement. There the parent's limit is longer: it only has to
        catch a sleeping child, and a busy machine must not make it blame a statement."""
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
        """A reply for every request. Repeated and cached requests cost nothing."""
        wanted = list(dict.fromkeys(requests))
        if self._owner != os.getpid():
            # After a fork, the child and the lock belong to the parent process.
            self._lock = threading.Lock()
            self._child = None
            self._owner = os.getpid()
        with self._lock:
            self._cache.next_text()
            results = {
                request: known
                for request in wanted
                if (known := self._cache.get(request) or self._deadly.get(request)) is not None
            }
            missing = [request for request in wanted if request not in results]
            if missing:
                results.update(self._ask(missing, cancel))
            return results

    def close(self) -> None:
        """End the child; the next ``encode`` starts another one."""
        if self._owner == os.getpid() and self._child is not None:
            self._child.close()
            self._child = None

    def _ask(self, requests: list[Request], cancel: Callable[[], bool]) -> dict[Request, Reply]:
        results: dict[Request, Reply] = {}
        suspect: Request | None = None
        """The statement that the previous child was working on when it died."""
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
                # A child that died by itself has a return code, but it may not have ended yet.
                how = child.kill(wait=not is_silent)
                self._child = None
                # Replies come in order, so the first missing one belongs to the statement that killed the
                # child.
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
        """The running child. Starts one if necessary, and a second one if the first dies at once. Raises
        OSError if that fails now, _Unusable if it will always fail."""
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
        """A new child; None if it dies while starting. Raises OSError and _Unusable."""
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
        """Send statements and receive replies. Returns the number of answered requests, fewer than all if
        cancelled."""
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
        return Reply(failure=Failure.REFUSED, reason="the assembler gave an unknown answer")


_shared: AssemblerClient | None = None


def shared_client() -> AssemblerClient:
    """This process's client. The first statement starts its child, and process exit ends it."""
    global _shared
    if _shared is None:
        _shared = AssemblerClient()
        atexit.register(_shared.close)
    return _shared
