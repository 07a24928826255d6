"""Messages from the worker to the server arrive whole, and nothing is sent twice."""

from __future__ import annotations

import itertools
import pickle
import random
from multiprocessing import Pipe
from typing import Any

from cyclelens.server.worker_messages.exchange import Receiver, Sender
from cyclelens.server.worker_messages.results import FileResult, JobResult, RegionResult

VERSIONS = itertools.count(1)


class Recorded:
    """A connection that counts what it sends."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self.sent: list[int] = []

    def send(self, message: object) -> None:
        self.sent.append(len(pickle.dumps(message)))
        self._connection.send(message)


def region(name: str, version: int | None = None) -> RegionResult:
    """A region with a version of its own by default."""
    number = next(VERSIONS) if version is None else version
    return RegionResult(name, 0, 9, complete=True, summary=name * 1_000, version=number)


def ends() -> tuple[Sender, Receiver, list[int]]:
    theirs, ours = Pipe()
    recorded = Recorded(ours)
    return Sender(recorded), Receiver(theirs), recorded.sent  # type: ignore[arg-type]


def test_every_outcome_arrives_as_it_was_sent() -> None:
    choose = random.Random(1)
    sender, receiver, _ = ends()
    regions = [region(str(number)) for number in range(6)]
    for identifier in range(300):
        regions[choose.randrange(6)] = region(f"{identifier}")
        shown = tuple(choose.sample(regions, choose.randrange(7)))
        reply = JobResult(identifier, FileResult(shown), last=not identifier % 3)
        sender.send(reply)
        assert receiver.receive() == reply
        if choose.random() < 0.2:
            sender.send(JobResult(identifier, error="failed", last=True))
            assert receiver.receive() == JobResult(identifier, error="failed", last=True)


def test_a_region_that_is_there_is_not_sent_again() -> None:
    sender, receiver, sent = ends()
    regions = [region(str(number)) for number in range(20)]
    sender.send(JobResult(1, FileResult(tuple(regions))))
    before = receiver.receive()
    regions[7] = region("new")
    sender.send(JobResult(2, FileResult(tuple(regions))))
    after = receiver.receive()
    assert sent[1] < sent[0] / 5
    assert isinstance(before.result, FileResult)
    assert isinstance(after.result, FileResult)
    same = [one is other for one, other in zip(before.result.regions, after.result.regions, strict=True)]
    assert same.count(False) == 1


def test_a_region_without_a_version_is_sent_each_time() -> None:
    sender, receiver, sent = ends()
    for text in ("one", "two"):
        reply = JobResult(1, FileResult((region(text, version=0),)))
        sender.send(reply)
        assert receiver.receive() == reply
    assert sent[1] == sent[0]


def test_regions_that_are_gone_are_forgotten() -> None:
    sender, receiver, sent = ends()
    kept, gone = region("kept"), region("gone")
    for regions in ((kept, gone), *[(kept,)] * 20, (kept, gone)):
        reply = JobResult(1, FileResult(regions))
        sender.send(reply)
        assert receiver.receive() == reply
    assert sent[-1] > len(gone.summary) > sent[-2]
