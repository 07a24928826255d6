"""Analyses of files that are not open, one after the other, for a client that asks for the problems of the
whole workspace.

They run in a worker process of their own, started with the first file, at low priority. No edit waits for
them.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Iterator

from cyclelens.server.worker_messages.results import FileResult, Job, JobResult
from cyclelens.server.workers.jobs import JobFailure, Jobs

SUFFIXES = (".s", ".asm", ".nasm")
"""How the names of assembly texts end, in any case."""
MAXIMUM_FILES = 100
"""Number of files of a workspace that are analysed."""
MAXIMUM_BYTES = 1 << 20
"""Size of the largest of them."""
MAXIMUM_ENTRIES = 20_000
"""Number of directory entries that are looked at."""


def assembly_files(folders: Iterable[str]) -> Iterator[str]:
    """Paths of the assembly texts in these folders, sorted within a folder. Hidden folders and links are left
    out."""
    entries = 0
    for folder in folders:
        for path, inner, files in os.walk(folder):
            inner[:] = sorted(name for name in inner if not name.startswith("."))
            entries += len(inner) + len(files)
            if entries > MAXIMUM_ENTRIES:
                return
            for name in sorted(files):
                found = os.path.join(path, name)
                if name.lower().endswith(SUFFIXES) and not os.path.islink(found):
                    yield found


class ClosedFiles:
    """The worker, and the file that it reads at the moment."""

    def __init__(self, factory: str) -> None:
        self.jobs = Jobs(self._answered, self._in_trouble, factory=factory, background=True)
        self._turn = asyncio.Lock()
        self._result: asyncio.Future[FileResult | None] | None = None

    async def result(self, uri: str, make: Callable[[int], Job]) -> FileResult | None:
        """The first whole answer about a file; None if the analysis failed or took too long. ``make`` makes
        the job for an identifier."""
        async with self._turn:
            self._result = asyncio.get_running_loop().create_future()
            self.jobs.submit(uri, make)
            try:
                return await self._result
            finally:
                self.jobs.forget(uri)

    def _answered(self, _job: Job, reply: JobResult) -> None:
        result = reply.result if isinstance(reply.result, FileResult) else None
        if self._result is not None and not self._result.done() and not (result and result.pending):
            self._result.set_result(result)

    def _in_trouble(self, _job: Job | None, _trouble: JobFailure) -> None:
        if self._result is not None and not self._result.done():
            self._result.set_result(None)
