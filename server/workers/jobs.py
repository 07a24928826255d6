"""The worker process seen from outside: newest wins, cancel, timeout, restart. ``schedule.py`` decides what
runs when.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from enum import StrEnum

from cyclelens.analyzer.common import log
from cyclelens.server.worker_messages.results import (
    FileResult,
    Job,
    JobResult,
    Step,
    TimelineAnswer,
    TimelineQuestion,
)
from cyclelens.server.workers import worker
from cyclelens.server.workers.process import Process
from cyclelens.server.workers.schedule import AHEAD, Priority, Schedule, ScheduledWork
from msgspec.structs import replace

START_TIMEOUT = 60.0
"""Seconds that a worker may take to import its modules, even on a slow machine."""


CANCEL_TIMEOUT = 2.0
"""Seconds within which a cancelled analysis has to stop; after that the worker is killed and the next job
runs."""


class JobFailure(StrEnum):
    """Why a job has no result."""

    TIMEOUT = "timeout"
    CRASH = "crash"
    """Two workers in a row died while running it."""
    START = "start"
    """There is no worker: two in a row died before they were ready."""

    def said(self, work: str, process: str, timeout: float) -> str:
        """The message for users, without a full stop."""
        match self:
            case JobFailure.TIMEOUT:
                return f"The {work} took more than {timeout:g} s and was stopped"
            case JobFailure.CRASH:
                return f"The {process} ended unexpectedly, twice in a row"
            case JobFailure.START:
                return f"The {process} cannot be started"


class _JobTimes:
    """A job on its way through the worker, with the times of its events in seconds of the monotonic clock."""

    def __init__(self, job: Job, priority: Priority, asked: float) -> None:
        self.job = job
        self.step = job.identifier
        """Identifier of the step that the worker runs, or ran last."""
        self.priority = priority
        self.cancelled = False
        """Superseded, closed or interrupted; its results may still arrive."""
        self.held: JobResult | None = None
        """Its figures, while the user may still be typing."""
        self._sent = time.monotonic()
        self._waited = self._sent - asked
        self._first: float | None = None

    def answered(self) -> float:
        """Record a result, perhaps not the last one. Returns the seconds that the first one took."""
        if self._first is None:
            self._first = time.monotonic() - self._sent
        return self._first

    def ended(self, how: str) -> None:
        """Write the job to the log, unless it has ended before."""
        if not self.cancelled:
            log.write(
                "job",
                number=self.job.identifier,
                task=self.job.task,
                document=self.job.uri,
                revision=self.job.revision,
                waited_ms=1e3 * self._waited,
                first_ms="none" if self._first is None else 1e3 * self._first,
                ms=1e3 * (time.monotonic() - self._sent),
                end=how,
            )


class Jobs:
    """Texts to analyse, by one worker. At most one step runs; each document has at most one job."""

    def __init__(
        self,
        on_outcome: Callable[[Job, JobResult], None],
        on_trouble: Callable[[Job | None, JobFailure], None],
        *,
        factory: str = worker.REAL_ENGINE,
        timeout: float = 10.0,
        background: bool = False,
    ) -> None:
        """
        :param on_outcome: called with every result and every error of a job that was not superseded.
        :param on_trouble: called for every job without a result, unless it was already cancelled; with None
            if there is no worker and no job waits for one.
        :param timeout: seconds an analysis may take without an answer, in the background ten times as many;
            may be changed at any time.
        :param background: run the worker at low priority.
        """
        self.timeout = timeout
        self._on_outcome = on_outcome
        self._on_trouble = on_trouble
        self._factory = factory
        self._background = background
        self._process: Process | None = None
        self._identifier = 0
        self._schedule = Schedule(self._next, self._settled)
        self._asked: dict[str, float] = {}
        """Document -> when its text settled, until its job begins."""
        self._running: _JobTimes | None = None
        self._begun: dict[str, _JobTimes] = {}
        """Jobs that have paused: other figures, or their details, wait."""
        self._quick = ""
        """The document of the last figure, if that took less than ``AHEAD`` seconds."""
        self._repeated: tuple[str, int, str] | None = None
        """Document, revision and task of the last job that was given to a second worker because the first one
        died."""
        self._failed_starts = 0
        """Number of workers in a row that died before they were ready."""
        self._questions: dict[int, asyncio.Future[str]] = {}
        """Timelines that hovers wait for, by identifier."""
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
            self._process = Process(self._factory, self._received, self._background)
            self._set_clock(START_TIMEOUT)
        except OSError:
            self._not_started()

    def edited(self, uri: str, make: Callable[[int], Job], pause: float) -> None:
        """A document has a new text: analyse it once it has been left alone for ``pause`` seconds. Supersedes
        all its earlier jobs. ``make`` makes the job for an identifier."""
        self.forget(uri)
        if not self._closed:
            self._schedule.edited(uri, make, pause, ahead=uri == self._quick)

    def submit(self, uri: str, make: Callable[[int], Job], priority: Priority = Priority.FIGURE) -> None:
        """Run a job for a document. Supersedes all its earlier jobs."""
        self.forget(uri)
        if not self._closed:
            self._schedule.add(uri, priority, make)

    async def timeline(self, job: Job, region: str, line: int) -> str:
        """Markdown about a line of a region that ``job`` has analysed; empty if there is none, if the figures
        of an edit came first, or if the worker is only starting. The question waits for the step that runs.
        Raises RuntimeError with the traceback of a defect."""
        self.start()
        if self._process is None or not self._process.ready:
            return ""
        self._identifier += 1
        number = self._identifier
        answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._questions[number] = answer
        self._process.send(TimelineQuestion(number, job, region, line))
        try:
            return await answer
        finally:
            self._questions.pop(number, None)

    def expects(self, uri: str) -> bool:
        """Whether a document has a job that is not done."""
        return self._runs(uri) or uri in self._begun or uri in self._schedule

    def forget(self, uri: str) -> None:
        """Cancel all jobs of a document."""
        self._schedule.drop(uri)
        self._asked.pop(uri, None)
        if self._repeated is not None and self._repeated[0] == uri:
            self._repeated = None
        begun = self._begun.pop(uri, None)
        if begun is not None and self._process is not None:
            begun.ended("cancelled")
            self._process.send(Step(begun.job.identifier, 0))
        if self._runs(uri):
            self._interrupt("cancelled")

    def restart(self) -> None:
        """Run all further work in a new worker, because tables that this one has read have changed. What runs
        begins anew."""
        if self._process is not None:
            self._repeated = None
            self._died(self._process)

    def close(self) -> None:
        """Cancel everything and end the worker."""
        self._closed = True
        self._schedule.clear()
        self._end_process()

    def _runs(self, uri: str) -> bool:
        running = self._running
        return running is not None and not running.cancelled and running.job.uri == uri

    @property
    def _patience(self) -> float:
        """Seconds until an answer. Nobody waits for the background, which has a tenth of the time on a busy
        machine."""
        return self.timeout * 10 if self._background else self.timeout

    def _interrupt(self, how: str) -> None:
        """Cancel the running step."""
        if self._running is not None and self._process is not None:
            self._process.cancel(self._running.step)
            self._running.ended(how)
            self._running.cancelled = True
            self._set_clock(min(self.timeout, CANCEL_TIMEOUT))

    def _settled(self, uri: str) -> bool:
        """The user has stopped typing: show the figures if they are known. Returns False if they have not
        begun."""
        begun = self._begun.get(uri)
        if begun is not None and begun.held is not None:
            self._show(begun, begun.held)
            return True
        if self._runs(uri):
            return True
        self._asked[uri] = time.monotonic()
        return False

    def _show(self, turn: _JobTimes, figures: JobResult) -> None:
        """Report figures; then the others, or the details, may begin."""
        turn.held = None
        result = figures.result
        pending = isinstance(result, FileResult) and result.pending
        self._wait(turn, Priority.FIGURE if pending else Priority.DETAILS)
        self._on_outcome(turn.job, figures)

    def _wait(self, turn: _JobTimes, priority: Priority) -> None:
        """Let a job that has paused go on once the more urgent work is done."""
        turn.priority = priority
        self._schedule.add(turn.job.uri, priority, self._again(turn.job))

    @staticmethod
    def _again(job: Job) -> Callable[[int], Job]:
        return lambda identifier: replace(job, identifier=identifier)

    def _next(self) -> None:
        """Give the worker the most urgent work, if it is ready for some."""
        if self._closed or (wanted := self._schedule.next()) is None:
            return
        self.start()
        if self._process is None or not self._process.ready:
            return
        running = self._running
        if running is not None:
            if wanted.priority is Priority.FIGURE and running.priority is Priority.DETAILS:
                self._put_off(running)
            return
        self._begin(self._process, self._schedule.take() or wanted)

    def _put_off(self, running: _JobTimes) -> None:
        """Interrupt details for a figure; what they have found is cached."""
        if not running.cancelled:
            self._interrupt("interrupted")
            self._schedule.add(running.job.uri, Priority.DETAILS, self._again(running.job))

    def _begin(self, process: Process, work: ScheduledWork) -> None:
        """Let the worker begin a job, or go on with one."""
        if self._questions and work.priority is not Priority.DETAILS:
            process.cancel(max(self._questions))
        self._identifier += 1
        turn = self._begun.pop(work.uri, None)
        if turn is not None:
            turn.step, turn.priority = self._identifier, work.priority
            process.send(Step(turn.job.identifier, turn.step))
        else:
            job = work.make(self._identifier)
            turn = _JobTimes(job, work.priority, self._asked.pop(work.uri, time.monotonic()))
            process.send(job)
        self._running = turn
        self._set_clock(self._patience)

    def _received(self, process: Process, message: object) -> None:
        if process is not self._process:
            return
        if message is None:
            self._died(process)
            return
        if message == worker.READY:
            process.ready = True
            self._failed_starts = 0
            self._set_clock(None)
        elif isinstance(message, JobResult) and isinstance(message.result, TimelineAnswer):
            self._drawn(message.identifier, message.result.text, message.error)
        elif isinstance(message, JobResult) and self._running is not None:
            self._answered(process, self._running, message)
        self._next()

    def _drawn(self, number: int, text: str, error: str = "") -> None:
        """A question is answered; a hover that waits no longer is left alone."""
        answer = self._questions.get(number)
        if answer is None or answer.done():
            return
        if error:
            answer.set_exception(RuntimeError(error))
        else:
            answer.set_result(text)

    def _answered(self, process: Process, turn: _JobTimes, message: JobResult) -> None:
        uri = turn.job.uri
        if message.result is not None:
            quick = turn.answered() <= AHEAD
            if not turn.cancelled:
                self._quick = uri if quick else ""
        if message.last or message.paused:
            self._running = None
            self._set_clock(None)
        elif not turn.cancelled:
            self._set_clock(self._patience)  # a worker that answers piece by piece does not hang
        if message.last:
            turn.ended("failed" if message.error else "done")
            process.was_useful = True
            if not turn.cancelled:
                self._schedule.drop(uri)
        if turn.cancelled:
            if message.paused:
                process.send(Step(turn.job.identifier, 0))
        elif message.paused:
            self._begun[uri] = turn
            if message.result is None:
                self._wait(turn, turn.priority)
            elif self._schedule.is_typed(uri):
                turn.held = message
            else:
                self._show(turn, message)
        elif message.result is not None or message.error:
            self._on_outcome(turn.job, message)

    def _died(self, process: Process) -> None:
        """Run the job once more in a new worker. A worker that never completed a job is only replaced for the
        next job, so that no failure can loop."""
        turn = self._running
        if turn is not None:
            turn.ended("worker died")
        self._end_process()
        if not process.ready:
            self._not_started()
        elif turn is not None and not turn.cancelled:
            job = turn.job
            known = job.uri, job.revision, job.task
            if known == self._repeated:
                self._schedule.drop(job.uri)
                self._on_trouble(job, JobFailure.CRASH)
            else:
                self._repeated = known
                self._schedule.add(job.uri, turn.priority, self._again(job))
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
        waiting = self._schedule.ready()
        for work in waiting:
            self._schedule.drop(work.uri)
        jobs: list[Job | None] = [work.make(0) for work in waiting]
        for job in jobs or [None]:
            self._on_trouble(job, JobFailure.START)

    def _timed_out(self) -> None:
        """Kill a worker that hangs; the next job starts another one."""
        turn, process = self._running, self._process
        if turn is not None:
            turn.ended("timed out")
        self._end_process()
        if process is not None and not process.ready:
            self._failed_starts = 1  # a worker that hangs at its start would hang again, for as long
            self._not_started()
        elif turn is not None and not turn.cancelled:
            self._schedule.drop(turn.job.uri)
            self._on_trouble(turn.job, JobFailure.TIMEOUT)
        self._next()

    def _end_process(self) -> None:
        """End the worker. Jobs that waited in it begin anew in the next one."""
        self._set_clock(None)
        process, self._process, self._running = self._process, None, None
        if process is not None:
            process.end()
        for number in self._questions:
            self._drawn(number, "")
        begun, self._begun = self._begun, {}
        for uri, turn in begun.items() if not self._closed else ():
            turn.ended("worker died")
            if turn.held is None:
                self._schedule.add(uri, turn.priority, self._again(turn.job))

    def _set_clock(self, seconds: float | None) -> None:
        if self._clock is not None:
            self._clock.cancel()
        self._clock = None
        if seconds is not None:
            self._clock = asyncio.get_running_loop().call_later(seconds, self._timed_out)
