"""The child process: one analyzer with its cache, one job at a time.

This is the only place in the server where an analysis runs. The parent may kill it at any moment and starts
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
    from cyclelens.server.worker_messages.exchange import Sender
    from cyclelens.server.worker_messages.results import FileResult, Job, SearchUpdate, Step, TimelineQuestion

READY = "ready"
"""First message to the parent: all imports are done, and jobs may come."""

_RARELY = (100_000, 20, 100)
"""Garbage collection thresholds during a job: scanning a long text takes as long as an answer."""
_JOBS_A_COLLECTION = 50
"""New objects are collected after each job, all objects after this many jobs."""

_NICENESS = 10
"""Niceness of background processes."""

REAL_ENGINE = "cyclelens.server.workers.engine:create"


class Engine(Protocol):
    """The interface of an engine; tests replace the real one."""

    def run(
        self, job: Job, cancel: Callable[[], bool]
    ) -> Iterator[FileResult | ComparisonProgress | ComparisonTable | SearchUpdate | None]:
        """Run one job; each result replaces the previous one, and None means that more will come. Once
        ``cancel`` returns true, the engine should soon raise any exception."""

    def timeline(self, question: TimelineQuestion, cancel: Callable[[], bool]) -> str:
        """Markdown about a region whose analysis is done; empty if there is none. ``cancel``: see ``run``."""


def main(connection: Connection, cancelled: Any, factory: str, background: bool) -> None:
    """Serve jobs until the pipe closes.

    :param cancelled: shared unsigned number; all jobs up to it are cancelled.
    :param factory: ``module:function`` that makes the engine.
    :param background: run at low priority.
    """
    _leave_standard_streams()
    if background and hasattr(os, "nice"):
        os.nice(_NICENESS)
    if hasattr(os, "setpgrp"):
        os.setpgrp()  # so that processes the analyzer starts can be ended together with this one
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal is for the parent to handle
    threading.Thread(target=_end_with_parent, daemon=True).start()

    from cyclelens.server.worker_messages.exchange import Sender
    from cyclelens.server.worker_messages.results import Step, TimelineQuestion

    sender = Sender(connection)
    module, function = factory.split(":")
    engine: Engine = getattr(importlib.import_module(module), function)()
    # Exempt the objects that exist now from collection: scanning them takes longer than an analysis.
    gc.freeze()
    gc.set_threshold(*_RARELY)
    tasks: dict[int, _RunningJob] = {}
    done = 0
    connection.send(READY)
    while True:
        try:
            message: Job | Step | TimelineQuestion = connection.recv()
        except (EOFError, OSError):
            _leave()
        if isinstance(message, TimelineQuestion):
            _answer(engine, message, cancelled, sender)
            continue
        if isinstance(message, Step):
            task = tasks.pop(message.job)
            if not message.identifier:
                continue
            task.step = message.identifier
        else:
            task = _RunningJob(engine, message, cancelled)
        try:
            if task.run(sender):
                tasks[task.job.identifier] = task
                continue
        except OSError:
            _leave()
        # Collect now, while nothing waits for an answer.
        done += 1
        gc.collect(1 if done % _JOBS_A_COLLECTION else 2)


def _answer(engine: Engine, question: TimelineQuestion, cancelled: Any, sender: Sender) -> None:
    """Answer a hover, between two jobs."""
    from cyclelens.server.worker_messages.results import JobResult, TimelineAnswer

    text, error = "", ""

    def cancel() -> bool:
        return bool(cancelled.value >= question.identifier)

    if not cancel():
        try:
            text = engine.timeline(question, cancel)
        except Exception:
            error = "" if cancel() else traceback.format_exc()
    try:
        sender.send(JobResult(question.identifier, TimelineAnswer(text), error=error))
    except OSError:
        _leave()


class _RunningJob:
    """A job in progress."""

    def __init__(self, engine: Engine, job: Job, cancelled: Any) -> None:
        self.job = job
        self.step = job.identifier
        self._cancelled = cancelled
        self._has_figures = False
        self._results = engine.run(job, self._cancel)

    def run(self, sender: Sender) -> bool:
        """Run until more figures are known, or, once all are, to the end. Returns whether there may be more.
        Raises OSError if the server has closed the connection."""
        from cyclelens.server.worker_messages.results import ANALYSIS, FileResult, JobResult

        number, error = self.job.identifier, ""
        try:
            for result in self._results:
                # Other documents take their turn between the parts of the figures, and before the details.
                pauses = not self._has_figures and self.job.task == ANALYSIS
                if isinstance(result, FileResult) and not result.pending:
                    self._has_figures = True
                sender.send(JobResult(number, result, paused=pauses))
                if pauses:
                    return True
        except Exception:
            # After a cancellation, an exception is how the analysis stops, not an error.
            error = "" if self._cancel() else traceback.format_exc()
        sender.send(JobResult(number, error=error, last=True))
        return False

    def _cancel(self) -> bool:
        return bool(self._cancelled.value >= self.step)


def _leave_standard_streams() -> None:
    """Redirect standard input and output to the null device: the parent's protocol runs on them."""
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.close(nothing)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115


def _end_with_parent() -> None:
    """End at once, even during an analysis, when the parent has ended."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        _leave()


def _leave() -> NoReturn:
    """End at once, with all child processes, and remove temporary files."""
    temporary.remove_of(os.getpid())
    end_group(os.getpid())
    # sys.exit would end only this thread; child processes are the documented use of os._exit.
    os._exit(0)


def end_group(pid: int) -> None:
    """Kill a worker and its children: an assembler that hangs would not notice that its parent is gone."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
