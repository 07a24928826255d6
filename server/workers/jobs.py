"""The worker process seen from outside: debounce, newest wins, cancel, timeout, restart.

The debounce delays what is shown. Where answers come quickly, a job starts after half of it, and its first
result is held back for the rest: a reader sees it as soon as typing pauses, not an analysis later.

Everything here runs on the event loop except two threads per worker process: one writes to its pipe; the
other reads, and so notices at once when the process dies.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import multiprocessing
import queue
import threading
import time
from collections.abc import Callable
from enum import StrEnum
from multiprocessing.connection import Connection
from typing import Any

from cyclelens.analyzer.common import log, temporary
from cyclelens.server.worker_messages.exchange import Receiver
from cyclelens.server.worker_messages.results import Job, JobResult
from cyclelens.server.workers import worker
from msgspec.structs import replace

START_TIMEOUT = 60.0
"""Seconds that a worker may take to import its modules, even on a slow machine."""


CANCEL_TIMEOUT = 2.0
"""Seconds within which a cancelled analysis has to stop; after that the worker is killed and the next job
runs."""

AHEAD = 0.05
"""Largest time, in seconds, of the last first answer for which the next job starts early."""

PAUSE = 0.02
"""Seconds between a first result that was held back and the next ones, so that the editor shows the first
one."""


class Trouble(StrEnum):
    """Why a job has no result."""

    TIMEOUT = "timeout"
    CRASH = "crash"
    """Two workers in a row died while running it."""
    START = "start"
    """There is no worker: two in a row died before they were ready."""

    def said(self, work: str, process: str, timeout: float) -> str:
        """The message for users, without a full stop."""
        match self:
            case Trouble.TIMEOUT:
                return f"The {work} took more than {timeout:g} s and was stopped"
            case Trouble.CRASH:
                return f"The {process} ended unexpectedly, twice in a row"
            case Trouble.START:
                return f"The {process} cannot be started"


class _Process:
    """One worker process and the threads that talk to it."""

    def __init__(
        self, factory: str, on_message: Callable[[_Process, object], None], background: bool
    ) -> None:
        """Raises OSError if the system cannot start it."""
        context = multiprocessing.get_context("spawn")
        self.ready = False
        self.was_useful = False
        """Whether it has completed a job."""
        self._loop = asyncio.get_running_loop()
        self._on_message = on_message
        self._outbox: queue.SimpleQueue[Job | int | None] = queue.SimpleQueue()
        self._cancelled: Any = context.RawValue(ctypes.c_uint64, 0)
        self._connection: Connection
        self._connection, theirs = context.Pipe()
        self._process = context.Process(
            target=worker.main, args=(theirs, self._cancelled, factory, background), name="cyclelens-worker"
        )
        self._writer = threading.Thread(target=self._write, name="cyclelens-jobs", daemon=True)
        try:
            self._process.start()
            self._writer.start()
            threading.Thread(target=self._read, name="cyclelens-outcomes", daemon=True).start()
        except (OSError, RuntimeError) as error:
            self.end()
            raise OSError(str(error)) from None
        finally:
            theirs.close()

    @property
    def pid(self) -> int | None:
        return self._process.pid

    def send(self, job: Job) -> None:
        """Pass on a job; returns at once, however long the text."""
        self._outbox.put(job)

    def release(self, job: Job) -> None:
        """Let a job that started early continue after its first result."""
        self._outbox.put(job.identifier)

    def cancel(self, identifier: int) -> None:
        """Request the end of this job and all earlier ones."""
        self._cancelled.value = identifier

    def end(self) -> None:
        """Kill the process and its children. No further messages of it are reported."""
        self._on_message = lambda _process, _message: None
        self._outbox.put(None)
        if self._process.pid is not None:
            worker.end_group(self._process.pid)
            self._process.kill()
            self._process.join(1.0)
            temporary.remove_of(self._process.pid)

    def _write(self) -> None:
        """Thread: passes jobs to the worker. Writing may block while the worker is busy with another job."""
        with contextlib.suppress(OSError):  # it is dead, which the other thread notices
            while (job := self._outbox.get()) is not None:
                self._connection.send(job)

    def _read(self) -> None:
        """Thread: reports the start message, all results, and the end of the process."""
        receiver = Receiver(self._connection)
        try:
            self._report(self._connection.recv())
            while True:
                self._report(receiver.receive())
        except (EOFError, OSError):
            self._report(None)
        finally:
            self._outbox.put(None)
            self._writer.join()
            self._connection.close()

    def _report(self, message: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended, so nothing is left to notify
            self._loop.call_soon_threadsafe(lambda: self._on_message(self, message))


class _Times:
    """Times of the events of the running job, for the log, in seconds of the monotonic clock."""

    def __init__(self) -> None:
        self._asked: dict[str, float] = {}
        self._waited = self._sent = 0.0
        self._first: float | None = None

    def asked(self, uri: str) -> None:
        """An answer about a document is due, and its text has settled."""
        self._asked[uri] = time.monotonic()

    def sent(self, uri: str) -> None:
        """The worker has the job."""
        self._sent = time.monotonic()
        self._waited = self._sent - self._asked.pop(uri, self._sent)
        self._first = None

    def answered(self) -> float:
        """Record a result, perhaps not the last one. Returns the seconds that the first one took."""
        if self._first is None:
            self._first = time.monotonic() - self._sent
        return self._first

    def ended(self, job: Job, how: str) -> None:
        """The job has ended; one that was cancelled has ended before."""
        if job.uri:
            first = "none" if self._first is None else 1e3 * self._first
            log.write(
                "job",
                number=job.identifier,
                task=job.task,
                document=job.uri,
                revision=job.revision,
                waited_ms=1e3 * self._waited,
                first_ms=first,
                ms=1e3 * (time.monotonic() - self._sent),
                end=how,
            )


class Jobs:
    """Queue of texts to analyse. At most one analysis runs; each document has at most one job waiting."""

    def __init__(
        self,
        on_outcome: Callable[[Job, JobResult], None],
        on_trouble: Callable[[Job | None, Trouble], None],
        *,
        factory: str = worker.REAL_ENGINE,
        timeout: float = 10.0,
        background: bool = False,
    ) -> None:
        """
        :param on_outcome: called with every result and every error of a job that was not superseded.
        :param on_trouble: called for every job without a result, unless it was already cancelled; with None
            if there is no worker and no job waits for one.
        :param timeout: seconds an analysis may take without an answer; may be changed at any time.
        :param background: run the worker at low priority.
        """
        self.timeout = timeout
        self._on_outcome = on_outcome
        self._on_trouble = on_trouble
        self._factory = factory
        self._background = background
        self._process: _Process | None = None
        self._identifier = 0
        self._delays: dict[str, asyncio.TimerHandle] = {}
        self._waiting: dict[str, Job] = {}
        self._running: Job | None = None
        self._held: JobResult | None = None
        """The first result of the running job, if it started early and its time has not come."""
        self._quick = ""
        """The document of the last answer, if that came within ``AHEAD`` seconds."""
        self._times = _Times()
        self._repeated = 0
        """Identifier of the last job that was given to a second worker because the first one died."""
        self._failed_starts = 0
        """Number of workers in a row that died before they were ready."""
        self._clock: asyncio.TimerHandle | None = None
        self._closed = False

    @property
    def worker_pid(self) -> int | None:
        """Process identifier of the worker, None while there is none."""
        return self._process.pid if self._process else None

    def start(self) -> None:
        """Start the worker ahead of the first job, so that the job does not wait for imports."""
        if self._process is not None or self._closed:
            return
        try:
            self._process = _Process(self._factory, self._received, self._background)
            self._set_clock(START_TIMEOUT)
        except OSError:
            self._not_started()

    def submit(self, uri: str, make: Callable[[int], Job], delay: float) -> None:
        """Analyse a document after ``delay`` seconds. Supersedes all its earlier jobs.

        :param make: makes the job for an identifier. Called when the delay, or half of it, is over: joining a
            long text at every key stroke would be wasteful.
        """
        self.forget(uri)
        loop = asyncio.get_running_loop()
        end = loop.time() + delay

        def wait() -> None:
            self._identifier += 1
            self._waiting[uri] = make(self._identifier)
            self._next()

        def ahead() -> None:
            self._delays[uri] = loop.call_at(end, due)
            if self._running is None and not self._waiting:
                wait()

        def due() -> None:
            begun = self._running if self._running is not None and self._running.uri == uri else None
            if begun is not None and self._held is not None:
                held, self._held = self._held, None
                self._delays[uri] = loop.call_later(PAUSE, due)
                self._on_outcome(begun, held)
                return
            del self._delays[uri]
            if begun is not None and self._process is not None:
                self._process.release(begun)
                self._set_clock(self.timeout)
            elif uri not in self._waiting:
                self._times.asked(uri)
                wait()

        if self._closed:
            return
        if delay and uri == self._quick:
            self._delays[uri] = loop.call_later(delay / 2, ahead)
        else:
            self._delays[uri] = loop.call_at(end, due)

    def expects(self, uri: str) -> bool:
        """Whether a document has a job that is not done."""
        running = self._running is not None and self._running.uri == uri
        return running or uri in self._delays or uri in self._waiting

    def forget(self, uri: str) -> None:
        """Cancel all jobs of a document."""
        early = self._undelay(uri)
        self._waiting.pop(uri, None)
        if self._running is not None and self._running.uri == uri and self._process is not None:
            self._process.cancel(self._running.identifier)
            if early:
                self._held = None
                self._process.release(self._running)
            self._times.ended(self._running, "cancelled")
            self._running = replace(self._running, uri="")
            self._set_clock(min(self.timeout, CANCEL_TIMEOUT))

    def close(self) -> None:
        """Cancel everything and end the worker."""
        self._closed = True
        for delayed in self._delays.values():
            delayed.cancel()
        self._delays.clear()
        self._waiting.clear()
        self._end_process()

    def _next(self) -> None:
        """Give the worker the job that has waited longest, if it is ready for one."""
        if self._running is not None or not self._waiting or self._closed:
            return
        self.start()
        if self._process is None or not self._process.ready:
            return
        uri = min(self._waiting, key=lambda waiting: self._waiting[waiting].identifier)
        self._running = replace(self._waiting.pop(uri), ahead=uri in self._delays)
        self._process.send(self._running)
        self._times.sent(uri)
        self._set_clock(self.timeout)

    def _received(self, process: _Process, message: object) -> None:
        if process is not self._process:
            return
        if message is None:
            self._died(process)
            return
        if message == worker.READY:
            process.ready = True
            self._failed_starts = 0
            self._set_clock(None)
        elif isinstance(message, JobResult):
            job = self._running
            # A job without a document was cancelled; its answer may still arrive.
            wanted = job is not None and job.uri and (message.result is not None or message.error)
            if message.result is not None:
                quick = self._times.answered() <= AHEAD
                if job is not None and job.uri:
                    self._quick = job.uri if quick else ""
            if message.last:
                if job is not None:
                    self._times.ended(job, "failed" if message.error else "done")
                    self._undelay(job.uri)
                self._running = None
                process.was_useful = True
                self._set_clock(None)
            elif job is not None and job.uri in self._delays:
                self._held = message if wanted else None
                self._set_clock(None)  # the worker waits
                return
            elif job is not None and job.uri:
                self._set_clock(self.timeout)  # a worker that answers piece by piece does not hang
            if job is not None and wanted:
                self._on_outcome(job, message)
        self._next()

    def _died(self, process: _Process) -> None:
        """Run the job once more in a new worker. A worker that never completed a job is only replaced for the
        next job, so that no failure can loop."""
        job = self._running
        if job is not None:
            self._times.ended(job, "worker died")
        self._end_process()
        if not process.ready:
            self._not_started()
        elif job is not None and job.uri:
            if job.identifier == self._repeated:
                self._undelay(job.uri)
                self._on_trouble(job, Trouble.CRASH)
            else:
                self._repeated = job.identifier
                self._waiting[job.uri] = job
        elif process.was_useful:
            self.start()
        self._next()

    def _not_started(self) -> None:
        """Try to start a worker once more; after that, fail all waiting jobs."""
        self._failed_starts += 1
        if self._failed_starts == 1:
            self.start()
            return
        self._failed_starts = 0
        waiting, self._waiting = self._waiting, {}
        for job in waiting.values() or [None]:
            self._on_trouble(job, Trouble.START)

    def _timed_out(self) -> None:
        """Kill a worker that hangs; the next job starts another one."""
        job, process = self._running, self._process
        if job is not None:
            self._times.ended(job, "timed out")
        self._end_process()
        if process is not None and not process.ready:
            self._failed_starts = 1  # a worker that hangs at its start would hang again, for as long
            self._not_started()
        elif job is not None and job.uri:
            self._undelay(job.uri)
            self._on_trouble(job, Trouble.TIMEOUT)
        self._next()

    def _undelay(self, uri: str) -> bool:
        """Stop delaying the results of a document. Returns whether they were delayed."""
        delayed = self._delays.pop(uri, None)
        if delayed is not None:
            delayed.cancel()
        return delayed is not None

    def _end_process(self) -> None:
        self._set_clock(None)
        self._held = None
        process, self._process, self._running = self._process, None, None
        if process is not None:
            process.end()

    def _set_clock(self, seconds: float | None) -> None:
        if self._clock is not None:
            self._clock.cancel()
        self._clock = None
        if seconds is not None:
            self._clock = asyncio.get_running_loop().call_later(seconds, self._timed_out)
