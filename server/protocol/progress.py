"""Work-done progress: long work is displayed, and can be cancelled there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from lsprotocol import types
from pygls.capabilities import get_capability
from pygls.lsp.server import LanguageServer

DELAY = 0.5
"""Seconds before work is displayed."""


class Progress:
    """At most one progress display per key (a document or a task)."""

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._shown: dict[str, str] = {}
        """Key -> token of the display that the client shows."""
        self._number = 0

    def started(self, key: str, message: str, cancel: Callable[[], None], delay: float = 0.0) -> None:
        """Register work that begins in ``delay`` seconds. A display that exists already stays unchanged.

        :param cancel: called if the user cancels the work.
        """
        if key in self._tasks or not get_capability(
            self._server.client_capabilities, "window.work_done_progress", False
        ):
            return
        self._cancel_timer(key)
        loop = asyncio.get_running_loop()
        self._timers[key] = loop.call_later(delay + DELAY, self._show, key, message, cancel)

    def step(self, key: str, done: int, total: int) -> None:
        """Report that ``done`` of ``total`` steps are complete."""
        if (token := self._shown.get(key)) is not None:
            report = types.WorkDoneProgressReport(
                message=f"{done} of {total}", percentage=100 * done // max(total, 1), cancellable=True
            )
            self._server.work_done_progress.report(token, report)

    def ended(self, key: str) -> None:
        """End the display: there is a result, or none will come."""
        self._cancel_timer(key)
        task = self._tasks.pop(key, None)
        if task is not None:
            task.cancel()

    def _cancel_timer(self, key: str) -> None:
        timer = self._timers.pop(key, None)
        if timer is not None:
            timer.cancel()

    def _show(self, key: str, message: str, cancel: Callable[[], None]) -> None:
        del self._timers[key]
        self._number += 1
        work = self._run(key, f"cyclelens-{self._number}", message, cancel)
        self._tasks[key] = asyncio.get_running_loop().create_task(work)

    async def _run(self, key: str, token: str, message: str, cancel: Callable[[], None]) -> None:
        """Show the display until :meth:`ended` cancels this task or the user cancels the work."""
        progress = self._server.work_done_progress
        # Shielded: the late answer to an abandoned request would be shown to the user as an error.
        await asyncio.shield(progress.create_async(token))
        begin = types.WorkDoneProgressBegin(title="Cyclelens", message=message, cancellable=True)
        progress.begin(token, begin)
        self._shown[key] = token
        try:
            while not progress.tokens[token].cancelled():
                await asyncio.sleep(0.05)
            self._tasks.pop(key, None)
            cancel()
        finally:
            self._shown.pop(key, None)
            progress.end(token, types.WorkDoneProgressEnd())
            progress.tokens.pop(token, None)
