"""What the worker process does next: each piece of work has a priority, and a time before which it waits.

An analysis has two steps. Its figure is what a key stroke changes on the screen; the details follow once that
is shown. So an edit never waits for the details of another document, nor for a search.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from enum import IntEnum

from cyclelens.server.worker_messages.results import Job
from msgspec import Struct


class Priority(IntEnum):
    """The most urgent first; work of one priority runs in the order of its arrival."""

    FIGURE = 0
    """The figures of a text whose user has stopped typing, and everything else that a user requested."""
    DETAILS = 1
    """Hover cards, timelines, single rewrites. A figure interrupts them."""
    AHEAD = 2
    """The figures of a text that is still being typed, shown when typing pauses. They begin after half of the
    pause, in a worker that has nothing else to do."""
    SEARCH = 3
    """Rewrites of whole loops and prices of findings, in a process of their own at low priority."""


AHEAD = 0.05
"""Largest time, in seconds, that the last figure took if the next one is to begin ahead."""

WAITS = {Priority.DETAILS: 0.02, Priority.SEARCH: 0.4}
"""Seconds before work begins: the editor shows the figure first, and a user who types on needs no search."""


class ScheduledWork(Struct, frozen=True, order=True):
    """One piece of work."""

    priority: Priority
    number: int
    """Ascends with the arrival."""
    uri: str
    make: Callable[[int], Job]
    """Makes the job for an identifier."""


class Schedule:
    """The work that waits: at most one piece for each document."""

    def __init__(self, begin: Callable[[], None], settled: Callable[[str], bool]) -> None:
        """
        :param begin: called when there is work to take.
        :param settled: called when the user has stopped typing in a document; returns False if its figures
            have not begun.
        """
        self._begin = begin
        self._settled = settled
        self._ready: dict[str, ScheduledWork] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._pauses: dict[str, asyncio.TimerHandle] = {}
        """Documents in which the user may still be typing."""
        self._number = 0

    def __contains__(self, uri: str) -> bool:
        return uri in self._ready or uri in self._timers or uri in self._pauses

    def edited(self, uri: str, make: Callable[[int], Job], pause: float, *, ahead: bool) -> None:
        """A document has a new text, which settles after ``pause`` seconds without another one.

        :param make: makes its job. Called when the job begins: joining a long text at every key stroke would
            be wasteful.
        :param ahead: the figures begin after half of the pause.
        """
        self.drop(uri)
        if not pause:
            self.add(uri, Priority.FIGURE, make)
            return

        def settle() -> None:
            del self._pauses[uri]
            if not self._settled(uri):
                self.add(uri, Priority.FIGURE, make)

        self._pauses[uri] = asyncio.get_running_loop().call_later(pause, settle)
        if ahead:
            self.add(uri, Priority.AHEAD, make, pause / 2)

    def is_typed(self, uri: str) -> bool:
        """Whether the user may still be typing in a document."""
        return uri in self._pauses

    def add(self, uri: str, priority: Priority, make: Callable[[int], Job], wait: float = 0.0) -> None:
        """Let work wait for the worker, after its own wait and another one of ``wait`` seconds. It replaces
        the document's earlier work."""
        self._forget_work(uri)

        def arrive() -> None:
            self._timers.pop(uri, None)
            self._number += 1
            self._ready[uri] = ScheduledWork(priority, self._number, uri, make)
            self._begin()

        wait += WAITS.get(priority, 0.0)
        if wait:
            self._timers[uri] = asyncio.get_running_loop().call_later(wait, arrive)
        else:
            arrive()

    def next(self) -> ScheduledWork | None:
        """The most urgent work that waits; None if there is none."""
        return min(self._ready.values(), default=None)

    def take(self) -> ScheduledWork | None:
        """Remove and return the most urgent work."""
        work = self.next()
        if work is not None:
            del self._ready[work.uri]
        return work

    def drop(self, uri: str) -> None:
        """Forget a document's work and its pause."""
        self._forget_work(uri)
        if (pause := self._pauses.pop(uri, None)) is not None:
            pause.cancel()

    def ready(self) -> list[ScheduledWork]:
        """The work that could begin, the most urgent first."""
        return sorted(self._ready.values())

    def clear(self) -> None:
        """Forget everything."""
        for uri in {*self._ready, *self._timers, *self._pauses}:
            self.drop(uri)

    def _forget_work(self, uri: str) -> None:
        self._ready.pop(uri, None)
        if (timer := self._timers.pop(uri, None)) is not None:
            timer.cancel()
