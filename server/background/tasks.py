"""Tasks that a user starts by command and waits for: comparisons and measurements of one region.

They run in a worker process of their own, started with the first task, so no edit waits for them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from cyclelens.analyzer.comparisons.table import ComparisonProgress, ComparisonTable
from cyclelens.analyzer.model.analysis_options import AnalysisOptions
from cyclelens.analyzer.rewrites.proposal import Fix
from cyclelens.server.display import messages
from cyclelens.server.documents.session import Snapshot
from cyclelens.server.protocol.progress import Progress
from cyclelens.server.worker_messages.results import Job, JobResult
from cyclelens.server.workers.jobs import JobFailure, Jobs
from msgspec import Struct


class TaskFailed(Exception):
    """The task has no result; the message is for the user."""


class TaskCancelled(Exception):
    """The user cancelled the task."""


class Task(Struct, frozen=True):
    """What to do with one region of a document; the fields of ``Job`` say more."""

    kind: str
    region: str
    other: str = ""
    path: str = ""
    html: bool = False
    fixes: tuple[Fix, ...] = ()
    doing: str = "comparing"
    """The verb that the progress display shows."""


class Tasks:
    """The tasks in progress."""

    def __init__(
        self,
        factory: str,
        options: Callable[[Snapshot], AnalysisOptions],
        activity: Progress,
        log: Callable[[str], None],
    ) -> None:
        """``options`` gives the analysis options of a document. ``log`` receives internal errors."""
        self.jobs = Jobs(self._answered, self._in_trouble, factory=factory)
        self._options = options
        self._activity = activity
        self._log = log
        self._futures: dict[str, asyncio.Future[ComparisonTable]] = {}
        self._number = 0

    async def run(self, snapshot: Snapshot, task: Task) -> ComparisonTable:
        """Run a task. Raises TaskFailed if it has no result, TaskCancelled if the user cancelled it."""
        self._number += 1
        key = f"{task.kind} {self._number}"
        future = self._futures[key] = asyncio.get_running_loop().create_future()
        options = self._options(snapshot)

        def job(identifier: int) -> Job:
            return Job(
                identifier,
                key,
                snapshot.revision,
                snapshot.text,
                options,
                task=task.kind,
                region=task.region,
                other=task.other,
                path=task.path,
                html=task.html,
                fixes=task.fixes,
            )

        def cancel() -> None:
            if not future.done():
                future.set_exception(TaskCancelled())

        try:
            self.jobs.submit(key, job)
            self._activity.started(key, f"{task.doing} {task.region}", cancel)
            table: ComparisonTable = await future
            return table
        finally:
            del self._futures[key]
            self.jobs.forget(key)
            self._activity.ended(key)

    def _answered(self, job: Job, reply: JobResult) -> None:
        result, future = reply.result, self._futures.get(job.uri)
        if future is None or future.done():
            return
        if isinstance(result, ComparisonProgress):
            self._activity.step(job.uri, result.done, result.total)
        elif isinstance(result, ComparisonTable):
            future.set_result(result)
        else:
            self._log(f"The comparison failed:\n{reply.error}")
            future.set_exception(TaskFailed(messages.COMPARISON_FAILED))

    def _in_trouble(self, job: Job | None, trouble: JobFailure) -> None:
        future = self._futures.get(job.uri) if job is not None else None
        if future is not None and not future.done():
            reason = trouble.said("comparison", "process for comparisons", self.jobs.timeout)
            future.set_exception(TaskFailed(f"{reason}."))
