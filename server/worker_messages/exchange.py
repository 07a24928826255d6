"""Transfers results from the worker to the server; regions that the server already has are not sent again.

In a file with many regions an edit changes one of them, while all together take hundreds of kilobytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from multiprocessing.connection import Connection

from cyclelens.server.worker_messages.results import FileResult, JobResult, RegionResult
from msgspec import Struct
from msgspec.structs import replace

_KEPT_MESSAGES = 8
"""Number of results without a region after which both ends drop it."""


class _Message(Struct, frozen=True):
    reply: JobResult
    """The result of a file, without its regions."""
    regions: tuple[RegionResult | int, ...] = ()
    """Its regions; of one that the server has, only the version."""


class _Sent:
    """The regions that the server has, by version; dropped after ``_KEPT_MESSAGES`` results without them."""

    def __init__(self) -> None:
        self.regions: dict[int, RegionResult] = {}
        self._used: dict[int, int] = {}
        self._count = 0

    def note(self, regions: Iterable[RegionResult]) -> None:
        """Record that a result contains these regions. Both ends do so with equal results."""
        self._count += 1
        for region in regions:
            if region.version:
                self.regions[region.version] = region
                self._used[region.version] = self._count
        for number in [n for n, used in self._used.items() if used <= self._count - _KEPT_MESSAGES]:
            del self._used[number], self.regions[number]


class Sender:
    """The worker's end."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._sent = _Sent()

    def send(self, reply: JobResult) -> None:
        """Send a result. Raises OSError if the server has closed the connection."""
        if not isinstance(reply.result, FileResult):
            self._connection.send(_Message(reply))
            return
        regions, known = reply.result.regions, self._sent.regions
        bare = replace(reply, result=replace(reply.result, regions=()))
        needed = tuple(each.version if each.version in known else each for each in regions)
        self._connection.send(_Message(bare, needed))
        self._sent.note(regions)


class Receiver:
    """The server's end."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._sent = _Sent()

    def receive(self) -> JobResult:
        """Wait for the next complete result. Raises EOFError or OSError if the worker is gone."""
        message: _Message = self._connection.recv()
        if not isinstance(message.reply.result, FileResult):
            return message.reply
        known = self._sent.regions
        regions = tuple(known[each] if isinstance(each, int) else each for each in message.regions)
        self._sent.note(regions)
        return replace(message.reply, result=replace(message.reply.result, regions=regions))
