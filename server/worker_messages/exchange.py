"""Transfers results from the worker to the server; regions that the server already has are not sent again.

In a file with many regions an edit changes one of them, while all together take hundreds of kilobytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from multiprocessing.connection import Connection

from cyclelens.server.worker_messages.results import FileResult, JobResult, RegionResult
from msgspec import Struct, field
from msgspec.structs import replace

_KEPT_MESSAGES = 8
"""Number of results without a region after which both ends drop it."""


class _Message(Struct, frozen=True):
    outcome: JobResult
    """The result of a file, without its regions."""
    regions: tuple[int, ...] = ()
    """The ids of its regions."""
    new: Mapping[int, RegionResult] = field(default_factory=dict)


class _SentRegion:
    """Regions by id; dropped after ``_KEPT_MESSAGES`` results without them."""

    def __init__(self) -> None:
        self.regions: dict[int, RegionResult] = {}
        self._used: dict[int, int] = {}
        self._count = 0

    def note(self, numbers: tuple[int, ...]) -> None:
        """Record that a result contains these regions."""
        self._count += 1
        self._used.update(dict.fromkeys(numbers, self._count))
        for number in [n for n, used in self._used.items() if used <= self._count - _KEPT_MESSAGES]:
            del self._used[number], self.regions[number]


class Sender:
    """The worker's end."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._known = _SentRegion()
        self._next = 0

    def send(self, outcome: JobResult) -> None:
        """Send a result. Raises OSError if the server has closed the connection."""
        if not isinstance(outcome.result, FileResult):
            self._connection.send(_Message(outcome))
            return
        known = self._known.regions
        # Regions are matched by content; the place is compared first because it usually differs.
        places: dict[tuple[str, int], list[int]] = {}
        for number, region in known.items():
            places.setdefault((region.name, region.first_line), []).append(number)
        regions: list[int] = []
        new: dict[int, RegionResult] = {}
        for region in outcome.result.regions:
            same = places.setdefault((region.name, region.first_line), [])
            found = next((number for number in same if known[number] == region), None)
            if found is None:
                found = self._next
                known[found] = new[found] = region
                same.append(found)
                self._next += 1
            regions.append(found)
        bare = replace(outcome, result=replace(outcome.result, regions=()))
        self._connection.send(_Message(bare, tuple(regions), new))
        self._known.note(tuple(regions))


class Receiver:
    """The server's end."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._known = _SentRegion()

    def receive(self) -> JobResult:
        """Wait for the next complete result. Raises EOFError or OSError if the worker is gone."""
        message: _Message = self._connection.recv()
        if not isinstance(message.outcome.result, FileResult):
            return message.outcome
        self._known.regions |= message.new
        regions = tuple(self._known.regions[number] for number in message.regions)
        self._known.note(message.regions)
        return replace(message.outcome, result=replace(message.outcome.result, regions=regions))
