"""The child process: one analyzer with its cache, one job at a time.

It is the only place of the server where an analysis runs. The parent may kill it at any moment and starts
another one; it ends by itself when the parent is gone.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from multiprocessing import parent_process
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from cyclelens.analyzer.common import temporary

if TYPE_CHECKING:
    from cyclelens.analyzer.comparisons.table import ComparisonProgress, ComparisonTable
    from cyclelens.server.worker_messages.results import FileResult, Job, SearchUpdate

READY = "ready"
"""First message to the parent: everything is imported, jobs may come."""

_RARELY = (100_000, 20, 100)
"""When the garbage collector comes during a job: going over a long text takes as long as an answer."""
_JOBS_A_COLLECTION = 50
"""After each job what is new is collected, after so many of them everything."""

_NICENESS = 10
"""Of processes in the background."""

REAL_ENGINE = "cyclelens.server.workers.engine:create"


class Engine(Protocol):
    """What a worker runs; tests put others in the place of the real one."""

    def run(
        self, job: Job, cancel: Callable[[], bool]
    ) -> Iterator[FileResult | ComparisonProgress | ComparisonTable | SearchUpdate | None]:
        """Do one job; each result replaces the one before, and None says that more will come. ``cancel``
        turning true is the request to raise anything, soon."""


def main(connection: Connection, cancelled: Any, factory: str, background: bool) -> None:
    """Serve jobs until the pipe closes.

    :param cancelled: shared unsigned number; all jobs up to it are cancelled.
    :param factory: ``module:function`` that makes the engine.
    :param background: whether everything else on the machine comes first.
    """
    _leave_standard_streams()
    if background and hasattr(os, "nice"):
        os.nice(_NICENESS)
    if hasattr(os, "setpgrp"):
        os.setpgrp()  # so that processes the analyzer starts can be ended together with this one
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal is for the parent to handle
    threading.Thread(target=_end_with_parent, daemon=True).start()

    from cyclelens.server.worker_messages.exchange import Sender
    from cyclelens.server.worker_messages.results import Job, JobResult

    sender = Sender(connection)
    module, function = factory.split(":")
    engine: Engine = getattr(importlib.import_module(module), function)()
    # What is there now stays: going over all of it takes longer than an analysis.
    gc.freeze()
    gc.set_threshold(*_RARELY)
    done = 0
    connection.send(READY)
    while True:
        try:
            job = connection.recv()
        except (EOFError, OSError):
            _leave()
        if not isinstance(job, Job):
            continue  # the word for a job that has ended before its first result

        def cancel(identifier: int = job.identifier) -> bool:
            return bool(cancelled.value >= identifier)

        error = ""
        ahead = job.ahead
        try:
            for result in engine.run(job, cancel):
                sender.send(JobResult(job.identifier, result))
                if ahead:
                    connection.recv()  # the word to go on
                    ahead = False
        except Exception:
            # Whatever is raised after a cancellation is how the analysis stopped, not an error.
            error = "" if cancel() else traceback.format_exc()
        try:
            sender.send(JobResult(job.identifier, error=error, last=True))
        except OSError:
            _leave()
        # Now nobody waits.
        done += 1
        gc.collect(1 if done % _JOBS_A_COLLECTION else 2)


def _leave_standard_streams() -> None:
    """Point input and output at nothing: they are the parent's, and the protocol runs on them."""
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.close(nothing)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115


def _end_with_parent() -> None:
    """End at once, even in the middle of an analysis, when the parent has ended."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        _leave()


def _leave() -> NoReturn:
    """End at once, with everything that the analyzer started, and leave no file."""
    temporary.remove_of(os.getpid())
    end_group(os.getpid())
    os._exit(0)


def end_group(pid: int) -> None:
    """Kill a worker with all it started: an assembler that hangs would not notice that it is alone."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
