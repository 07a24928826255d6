"""Work-done progress: what takes long is shown as such, and can be cancelled there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from lsprotocol import types
from pygls.capabilities import get_capability
from pygls.lsp.server import LanguageServer

DELAY = 0.5
"""Seconds that something may take without a word."""


class Progress:
    """At most one progress for each key: a document, or a task."""

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._shown: dict[str, str] = {}
        """Key -> token of what the client was told to show."""
        self._number = 0

    def started(self, key: str, message: str, cancel: Callable[[], None], delay: float = 0.0) -> None:
        """Something was asked for and begins in ``delay`` seconds. What is shown already stays as it is.

        :param cancel: called if the user cancels it.
        """
        if key in self._tasks or not get_capability(
            self._server.client_capabilities, "window.work_done_progress", False
        ):
            return
        self._cancel_timer(key)
        loop = asyncio.get_running_loop()
        self._timers[key] = loop.call_later(delay + DELAY, self._show, key, message, cancel)

    def step(self, key: str, done: int, total: int) -> None:
        """So much of it is done."""
        if (token := self._shown.get(key)) is not None:
            report = types.WorkDoneProgressReport(
                message=f"{done} of {total}", percentage=100 * done // max(total, 1), cancellable=True
            )
            self._server.work_done_progress.report(token, report)

    def ended(self, key: str) -> None:
        """There is a result, or none will come."""
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
        """Show it until :meth:`ended` cancels this task, or the user cancels what it stands for."""
        progress = self._server.work_done_progress
        # Shielded: the answer to a request that was given up on would be shown to the user as an error.
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
