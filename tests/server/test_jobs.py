"""The worker process: the newest text wins, and a failure stays inside the process."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from cyclelens.analyzer.common import log
from cyclelens.analyzer.model.analysis_options import AnalysisOptions
from cyclelens.server.worker_messages.results import FileResult, Job, JobResult
from cyclelens.server.workers.jobs import JobFailure, Jobs
from cyclelens.server.workers.schedule import Priority

TIMEOUT = 60.0


class Desk:
    """A Jobs object and all its reports, in order."""

    def __init__(self, factory: str = "testkit.server.fake_engine:create", background: bool = False) -> None:
        self.events: list[tuple[Any, ...]] = []
        self.changed = asyncio.Event()
        self.jobs = Jobs(
            self._outcome, self._trouble, factory=factory, timeout=TIMEOUT, background=background
        )

    def submit(self, text: str, uri: str = "a", revision: int = 0, delay: float = 0.0) -> None:
        self.jobs.edited(uri, lambda number: Job(number, uri, revision, text, AnalysisOptions()), delay)

    async def event(self) -> tuple[Any, ...]:
        """The next report."""
        async with asyncio.timeout(TIMEOUT):
            while not self.events:
                self.changed.clear()
                await self.changed.wait()
        return self.events.pop(0)

    async def started(self) -> None:
        """Wait until a job is with the worker."""
        async with asyncio.timeout(TIMEOUT):
            while self.jobs._running is None:
                await asyncio.sleep(0.01)

    def _outcome(self, job: Job, reply: JobResult) -> None:
        result = reply.result
        assert result is None or isinstance(result, FileResult)
        names = [region.name for region in result.regions] if result else reply.error
        if result and result.dialect == "more":
            names = ["more"]
        self.events.append((job.uri, job.revision, names))
        self.changed.set()

    def _trouble(self, job: Job | None, trouble: JobFailure) -> None:
        self.events.append((job.uri if job else None, trouble))
        self.changed.set()


@pytest_asyncio.fixture
async def desk(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Desk]:
    # Answers count as quick however busy the machine is.
    monkeypatch.setattr("cyclelens.server.workers.jobs.AHEAD", TIMEOUT)
    desk = Desk()
    yield desk
    desk.jobs.close()


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.asyncio
async def test_only_the_last_of_several_quick_edits_is_analysed(desk: Desk) -> None:
    for revision in range(20):
        desk.submit(f"region r{revision}\nend", revision=revision, delay=0.05)
    assert await desk.event() == ("a", 19, ["r19"])
    assert desk.events == []


@pytest.mark.asyncio
async def test_a_newer_text_cancels_the_analysis_of_the_older_one(desk: Desk) -> None:
    desk.submit("wait until cancelled", revision=1)
    await desk.started()
    worker = desk.jobs.worker_pid
    desk.submit("region new\nend", revision=2)
    assert await desk.event() == ("a", 2, ["new"])
    assert desk.jobs.worker_pid == worker, "a cancelled analysis must not cost the worker and its cache"


@pytest.mark.asyncio
async def test_a_newer_text_does_not_wait_for_an_older_one_that_cannot_be_cancelled(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cyclelens.server.workers.jobs.CANCEL_TIMEOUT", 0.05)
    desk.submit("hang", revision=1)
    await desk.started()
    desk.submit("region new\nend", revision=2)
    assert await desk.event() == ("a", 2, ["new"])


@pytest.mark.asyncio
async def test_results_come_as_they_are_ready_and_the_rest_can_be_overtaken(desk: Desk) -> None:
    desk.submit("region a\nend\nmore", revision=1)
    assert await desk.event() == ("a", 1, ["a"])
    assert await desk.event() == ("a", 1, ["more"])
    desk.submit("region b\nend\nslow timeline\nmore", revision=2)
    assert await desk.event() == ("a", 2, ["b"])
    desk.submit("region c\nend", revision=3)
    assert await desk.event() == ("a", 3, ["c"])


@pytest.mark.asyncio
async def test_the_figures_of_another_document_come_between_those_of_a_text_with_many_regions(
    desk: Desk,
) -> None:
    desk.submit("region a\nend\nendless parts", uri="a")
    await desk.started()
    for revision in range(3):
        desk.submit(f"region b{revision}\nend", uri="b", revision=revision)
        assert await desk.event() == ("b", revision, [f"b{revision}"])
    assert desk.jobs.expects("a")
    desk.submit("region c\nend", uri="a", revision=1)
    assert await desk.event() == ("a", 1, ["c"])


@pytest.mark.asyncio
async def test_figures_that_paused_go_on_before_any_details(desk: Desk, tmp_path: Path) -> None:
    wait = tmp_path / "go"
    desk.submit("region a\nend\nregion b\nend\nin parts\nmore", uri="a")
    desk.submit(f"region c\nend\nmore\nwait for {wait}", uri="c")
    assert await desk.event() == ("a", 0, ["a"])
    wait.touch()
    found = [await desk.event() for _ in range(4)]
    assert found == [("c", 0, ["c"]), ("a", 0, ["a", "b"]), ("c", 0, ["more"]), ("a", 0, ["more"])]


@pytest.mark.asyncio
async def test_figures_that_paused_in_a_worker_that_died_begin_anew(desk: Desk) -> None:
    desk.submit("region a\nend\nregion b\nend\nin parts", uri="a")
    assert await desk.event() == ("a", 0, ["a"])
    desk.jobs.restart()
    assert await desk.event() == ("a", 0, ["a"])
    assert await desk.event() == ("a", 0, ["a", "b"])


DEBOUNCE = 3.0


async def begun_ahead(desk: Desk, text: str, revision: int = 1) -> None:
    """Have answers come quickly, submit a text with a debounce, and wait until its first result is held."""
    if not desk.jobs._quick:
        desk.submit("region first\nend")
        await desk.event()
    desk.submit(text, revision=revision, delay=DEBOUNCE)
    async with asyncio.timeout(TIMEOUT):
        while not (desk.jobs._begun and desk.jobs._begun["a"].held):
            await asyncio.sleep(0.01)
    assert desk.jobs.expects("a")
    assert desk.events == [], "nothing is shown before typing pauses"


@pytest.mark.asyncio
async def test_where_answers_come_quickly_one_is_there_when_the_debounce_ends(desk: Desk) -> None:
    await begun_ahead(desk, "region a\nend\nmore")
    assert await desk.event() == ("a", 1, ["a"])
    assert "a" in desk.jobs._begun, "the rest waits until the editor shows this"
    assert await desk.event() == ("a", 1, ["more"])


@pytest.mark.asyncio
async def test_a_newer_text_throws_away_what_was_begun_ahead(desk: Desk) -> None:
    await begun_ahead(desk, "region a\nend\nmore", revision=1)
    worker = desk.jobs.worker_pid
    await begun_ahead(desk, "region b\nend", revision=2)
    assert await desk.event() == ("a", 2, ["b"])
    desk.jobs.forget("a")
    desk.submit("region c\nend", revision=3)
    assert await desk.event() == ("a", 3, ["c"])
    assert desk.jobs.worker_pid == worker


@pytest.mark.asyncio
async def test_another_document_takes_nothing_away_of_what_was_begun_ahead(desk: Desk) -> None:
    await begun_ahead(desk, "region a\nend\nmore")
    desk.submit("region b\nend", uri="b", delay=0.01)
    assert await desk.event() == ("b", 0, ["b"]), "it need not wait either"
    assert await desk.event() == ("a", 1, ["a"])
    assert await desk.event() == ("a", 1, ["more"])


@pytest.mark.asyncio
async def test_what_was_begun_ahead_and_is_late_is_shown_when_it_comes(desk: Desk, tmp_path: Path) -> None:
    desk.submit("region first\nend")
    await desk.event()
    desk.submit(f"region a\nend\nwait for {tmp_path / 'now'}", revision=1, delay=0.1)
    async with asyncio.timeout(TIMEOUT):
        while not (tmp_path / "now.begun").exists() or desk.jobs._schedule.is_typed("a"):
            await asyncio.sleep(0.01)
    (tmp_path / "now").touch()
    assert await desk.event() == ("a", 1, ["a"])


@pytest.mark.asyncio
async def test_slow_answers_are_not_begun_ahead(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("cyclelens.server.workers.jobs.AHEAD", 0.0)
    desk.submit("region first\nend")
    await desk.event()
    desk.submit(f"region a\nend\nwait for {tmp_path / 'now'}", revision=1, delay=0.2)
    async with asyncio.timeout(TIMEOUT):
        while not (tmp_path / "now.begun").exists():
            assert desk.jobs._running is None or desk.jobs._running.priority is Priority.FIGURE
            await asyncio.sleep(0.01)
    assert not desk.jobs._schedule.is_typed("a"), "the debounce is over"
    (tmp_path / "now").touch()
    assert await desk.event() == ("a", 1, ["a"])


@pytest.mark.asyncio
@pytest.mark.parametrize(("text", "what"), [("die", "ended unexpectedly"), ("raise", "a mistake on purpose")])
async def test_a_failure_of_prepared_work_is_reported_once(desk: Desk, text: str, what: str) -> None:
    desk.submit("region first\nend")
    await desk.event()
    desk.submit(text, revision=1, delay=0.2)
    *_, reason = await desk.event()
    told = reason.said("analysis", "process", 1) if isinstance(reason, JobFailure) else reason
    assert what in told
    await asyncio.sleep(0.4)
    assert desk.events == []
    desk.submit("region after\nend", revision=2, delay=0.1)
    assert await desk.event() == ("a", 2, ["after"])


@pytest.mark.asyncio
async def test_documents_do_not_overtake_each_other(desk: Desk) -> None:
    for uri in "abc":
        desk.submit(f"region {uri}\nend", uri=uri)
    assert [await desk.event() for _ in range(3)] == [(uri, 0, [uri]) for uri in "abc"]


@pytest.mark.asyncio
async def test_a_figure_does_not_wait_for_the_details_of_another_document(desk: Desk) -> None:
    """They are interrupted, and begin again behind it."""
    desk.submit("region a\nend\nslow timeline", uri="a")
    assert await desk.event() == ("a", 0, ["a"])
    async with asyncio.timeout(TIMEOUT):
        while desk.jobs._running is None:
            await asyncio.sleep(0.01)
    worker = desk.jobs.worker_pid
    desk.submit("region b\nend", uri="b")
    assert await desk.event() == ("b", 0, ["b"])
    assert await desk.event() == ("a", 0, ["a"])
    assert desk.jobs.expects("a")
    assert desk.jobs.worker_pid == worker


@pytest.mark.asyncio
async def test_details_that_wait_are_found_in_the_next_worker_if_this_one_dies(desk: Desk) -> None:
    desk.submit("region a\nend\nmore", uri="a")
    assert await desk.event() == ("a", 0, ["a"])
    desk.submit("die", uri="b")
    events = [await desk.event() for _ in range(3)]
    assert events.count(("b", JobFailure.CRASH)) == 1
    assert ("a", 0, ["more"]) in events or await desk.event() == ("a", 0, ["more"])


@pytest.mark.asyncio
async def test_figures_are_found_before_details(desk: Desk) -> None:
    for uri in "abc":
        desk.submit(f"region {uri}\nend\nmore", uri=uri)
    found = [await desk.event() for _ in range(6)]
    assert found == [(uri, 0, [uri]) for uri in "abc"] + [(uri, 0, ["more"]) for uri in "abc"]


@pytest.mark.asyncio
async def test_a_closed_document_gets_no_answer(desk: Desk) -> None:
    desk.submit("wait until cancelled", uri="a")
    await desk.started()
    desk.jobs.forget("a")
    desk.submit("region b\nend", uri="b")
    assert await desk.event() == ("b", 0, ["b"])


@pytest.mark.asyncio
async def test_a_crash_is_reported_once_and_the_next_job_gets_a_new_worker(desk: Desk) -> None:
    desk.submit("die")
    assert await desk.event() == ("a", JobFailure.CRASH)
    desk.submit("region after\nend", revision=1)
    assert await desk.event() == ("a", 1, ["after"])


@pytest.mark.asyncio
async def test_an_analysis_that_takes_too_long_is_ended_with_its_process(desk: Desk) -> None:
    desk.submit("region one\nend")
    await desk.event()
    worker = desk.jobs.worker_pid
    desk.jobs.timeout = 0.05
    desk.submit("hang", uri="a")
    desk.submit("region other\nend", uri="b")
    assert await desk.event() == ("a", JobFailure.TIMEOUT)
    desk.jobs.timeout = TIMEOUT
    assert await desk.event() == ("b", 0, ["other"]), "what waited behind it is still answered"
    assert worker is not None
    assert not alive(worker)


@pytest.mark.asyncio
async def test_what_runs_in_the_background_may_take_longer(tmp_path: Path) -> None:
    """Where others are busy, its low priority leaves it a tenth of the time."""
    desk = Desk(background=True)
    desk.submit("region one\nend")
    await desk.event()
    desk.jobs.timeout = 0.5
    desk.submit(f"region a\nend\nwait for {tmp_path / 'now'}", revision=1)
    await desk.started()
    await asyncio.sleep(0.7)
    (tmp_path / "now").touch()
    assert await desk.event() == ("a", 1, ["a"])
    desk.jobs.timeout = 0.05
    desk.submit("hang", revision=2)
    assert await desk.event() == ("a", JobFailure.TIMEOUT)
    desk.jobs.close()


@pytest.mark.asyncio
async def test_an_exception_in_the_analysis_is_reported_and_the_worker_survives(desk: Desk) -> None:
    desk.submit("raise")
    _, _, error = await desk.event()
    assert "a mistake on purpose" in error
    worker = desk.jobs.worker_pid
    desk.submit("region after\nend")
    assert await desk.event() == ("a", 0, ["after"])
    assert desk.jobs.worker_pid == worker


@pytest.mark.asyncio
async def test_an_engine_that_cannot_start_is_reported_once_per_attempt() -> None:
    desk = Desk("testkit.server.fake_engine:create_broken")
    desk.submit("region a\nend")
    desk.submit("region b\nend", uri="b")
    assert [await desk.event(), await desk.event()] == [("a", JobFailure.START), ("b", JobFailure.START)]
    assert desk.jobs.worker_pid is None, "no restart without a new job: it would fail again and again"
    desk.submit("region a\nend")
    assert await desk.event() == ("a", JobFailure.START)
    desk.jobs.close()


@pytest.mark.asyncio
async def test_closing_ends_the_worker_in_the_middle_of_an_analysis(desk: Desk) -> None:
    desk.submit("hang")
    await desk.started()
    worker = desk.jobs.worker_pid
    desk.jobs.close()
    assert worker is not None
    assert not alive(worker)
    desk.submit("region late\nend")
    assert desk.jobs.worker_pid is None, "nothing starts after the end"


@pytest.mark.asyncio
async def test_the_log_has_a_line_per_job_with_its_times(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(log.LOG, str(tmp_path / "x.log"))
    desk.submit("wait until cancelled", revision=1)
    await desk.started()
    desk.submit("region new\nend", revision=2)
    await desk.event()
    async with asyncio.timeout(TIMEOUT):
        while (lines := (tmp_path / "x.log").read_text().splitlines())[-1].count("end=done") == 0:
            await asyncio.sleep(0.01)
    times = r"waited_ms=[\d.]+ first_ms=(none|[\d.]+) ms=[\d.]+"
    for line, revision, end in zip(lines, (1, 2), ("cancelled", "done"), strict=True):
        pattern = (
            rf"\S+ {os.getpid()} job number=\d+ task=\w+ document=a revision={revision} {times} end={end}"
        )
        assert re.fullmatch(pattern, line)
