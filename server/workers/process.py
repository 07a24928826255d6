"""The worker process and the two threads that talk to it: one writes to its pipe; the other reads, and so
notices at once when the process dies."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import multiprocessing
import queue
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from cyclelens.analyzer.common import temporary
from cyclelens.server.worker_messages.exchange import Receiver
from cyclelens.server.worker_messages.results import Job, Step, TimelineQuestion
from cyclelens.server.workers import worker


class Process:
    """One worker process, seen from the event loop."""

    def __init__(self, factory: str, on_message: Callable[[Process, object], None], background: bool) -> None:
        """Raises OSError if the system cannot start it."""
        context = multiprocessing.get_context("spawn")
        self.ready = False
        self.was_useful = False
        """Whether it has completed a job."""
        self._loop = asyncio.get_running_loop()
        self._on_message = on_message
        self._outbox: queue.SimpleQueue[Job | Step | TimelineQuestion | None] = queue.SimpleQueue()
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
            threading.Thread(target=self._read, name="cyclelens-replies", daemon=True).start()
        except (OSError, RuntimeError) as error:
            self.end()
            raise OSError(str(error)) from None
        finally:
            theirs.close()

    @property
    def pid(self) -> int | None:
        return self._process.pid

    def send(self, message: Job | Step | TimelineQuestion) -> None:
        """Pass on a job, its next step or a question; returns at once, however long the text."""
        self._outbox.put(message)

    def cancel(self, identifier: int) -> None:
        """Request the end of the step with this identifier and all earlier ones."""
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
