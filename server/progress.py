"""Work-done progress: an analysis that takes long is shown as such, and can be cancelled there."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.capabilities import get_capability

if TYPE_CHECKING:
    from cyclelens.server.language_server import CyclelensServer

DELAY = 0.5
"""Seconds that an analysis may take without a word."""


class Progress:
    """At most one progress for each document."""

    def __init__(self, server: CyclelensServer) -> None:
        self._server = server
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._number = 0

    def started(self, uri: str, delay: float) -> None:
        """An analysis was asked for and begins in ``delay`` seconds. One that is shown stays as it is."""
        if uri in self._tasks or not get_capability(
            self._server.client_capabilities, "window.work_done_progress", False
        ):
            return
        self._cancel_timer(uri)
        loop = asyncio.get_running_loop()
        self._timers[uri] = loop.call_later(delay + DELAY, self._show, uri)

    def ended(self, uri: str) -> None:
        """There is a result, or none will come."""
        self._cancel_timer(uri)
        task = self._tasks.pop(uri, None)
        if task is not None:
            task.cancel()

    def _cancel_timer(self, uri: str) -> None:
        timer = self._timers.pop(uri, None)
        if timer is not None:
            timer.cancel()

    def _show(self, uri: str) -> None:
        del self._timers[uri]
        self._number += 1
        work = self._run(uri, f"cyclelens-analysis-{self._number}")
        self._tasks[uri] = asyncio.get_running_loop().create_task(work)

    async def _run(self, uri: str, token: str) -> None:
        """Show it until :meth:`ended` cancels this task, or the user cancels the analysis."""
        progress = self._server.work_done_progress
        # Shielded: the answer to a request that was given up on would be shown to the user as an error.
        await asyncio.shield(progress.create_async(token))
        begin = types.WorkDoneProgressBegin(title="Cyclelens", message="analysing", cancellable=True)
        progress.begin(token, begin)
        try:
            while not progress.tokens[token].cancelled():
                await asyncio.sleep(0.05)
            self._server.jobs.forget(uri)
            self._tasks.pop(uri, None)
        finally:
            progress.end(token, types.WorkDoneProgressEnd())
            progress.tokens.pop(token, None)
