"""Processes killed at any moment are replaced, and their job runs once more."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from cyclelens.server.workers.worker import end_group
from lsprotocol import types
from pygls.exceptions import JsonRpcInternalError
from pytest_lsp import ClientServerConfig
from testkit.kernels import KERNELS
from testkit.server.editor import TIMEOUT, Editor, make_client
from testkit.server.processes import Process, descendants, eventually, zombies

FAKE = [sys.executable, str(Path(__file__).parents[1] / "testkit" / "server" / "serve_fake.py")]
REAL = [sys.executable, "-m", "cyclelens.analyzer.cli.main", "lsp"]

TOY = "region one\n  add\nend"
CHAIN = "# cyclelens-begin chain\n.L1:\n imul %rax, %rbx\n dec %r15\n jnz .L1\n# cyclelens-end\n"


class Watched(Editor):
    """An editor whose server's processes can be killed."""

    @property
    def server(self) -> int:
        return int(self.client._server.pid)

    def workers(self) -> list[Process]:
        return [one for one in descendants(self.server) if one.is_worker]

    def assemblers(self) -> list[Process]:
        return [one for one in descendants(self.server) if one.is_assembler]

    async def killed(self, victim: Process) -> None:
        """Kill a process and wait until it is gone and collected."""
        victim.kill()
        assert await eventually(lambda: not victim.runs and victim.pid not in zombies(self.server))

    @property
    def told(self) -> list[str]:
        """The messages shown to the user."""
        return [message.message for message in self.client.messages]


async def _editor(command: list[str], **settings: object) -> AsyncIterator[Watched]:
    client: Any = await ClientServerConfig(server_command=command, client_factory=make_client).start()
    client.set_configuration({"debounceMs": 10, "advice": False, **settings}, section="cyclelens")
    editor = Watched(client)
    yield editor
    started = list(descendants(editor.server))
    await client.shutdown_session()
    assert client._server.returncode == 0
    await client.stop()
    assert await eventually(lambda: not any(one.runs for one in started))


@pytest_asyncio.fixture
async def toy() -> AsyncIterator[Watched]:
    async for editor in _editor(FAKE):
        yield editor


@pytest_asyncio.fixture
async def real() -> AsyncIterator[Watched]:
    """A server without the machine's programs, so that only Keystone's child encodes."""
    async for editor in _editor(REAL, allowExternalPrograms=False):
        yield editor


@pytest.mark.asyncio
async def test_a_worker_that_dies_while_it_waits_is_replaced_before_the_next_edit(toy: Watched) -> None:
    await toy.start()
    await toy.open(TOY)
    (worker,) = toy.workers()
    await toy.killed(worker)
    assert await eventually(lambda: toy.workers() not in ([], [worker]))
    toy.replace_line(1, "  sub")
    await toy.analysed()
    assert await toy.labels() == {0: "1 cycles", 1: "sub"}
    assert toy.told == []


@pytest.mark.asyncio
async def test_a_worker_that_dies_while_it_starts_is_replaced(toy: Watched) -> None:
    await toy.start()
    assert await eventually(toy.workers)
    await toy.killed(toy.workers()[0])
    await toy.open(TOY)
    assert await toy.labels() == {0: "1 cycles", 1: "add"}
    assert toy.told == []


@pytest.mark.asyncio
async def test_the_job_of_a_worker_that_dies_is_done_by_the_next_one(toy: Watched, tmp_path: Path) -> None:
    await toy.start()
    await toy.open(TOY)
    release = tmp_path / "release"
    toy.replace_line(1, f"  wait for {release}")
    assert await eventually(release.with_suffix(".begun").exists)
    await toy.killed(toy.workers()[0])
    release.touch()
    await toy.analysed()
    assert (await toy.labels())[0] == "1 cycles"
    assert toy.told == []


@pytest.mark.asyncio
async def test_a_job_on_which_two_workers_die_is_given_up_with_a_message(toy: Watched) -> None:
    await toy.start()
    await toy.open(TOY)
    toy.replace_line(1, "  die")
    assert await toy.message("") == (
        "The analysis process ended unexpectedly, twice in a row; the next edit tries again."
    )
    assert (await toy.labels())[0] == "1 cycles (stale)"
    toy.replace_line(1, "  sub")
    await toy.analysed()
    assert await toy.labels() == {0: "1 cycles", 1: "sub"}


@pytest.mark.asyncio
async def test_every_document_that_waits_is_answered_after_a_death(toy: Watched, tmp_path: Path) -> None:
    await toy.start()
    await toy.open(TOY)
    release = tmp_path / "release"
    toy.replace_line(1, f"  wait for {release}")
    assert await eventually(release.with_suffix(".begun").exists)
    other = types.TextDocumentItem("file:///other.s", "asm", 0, TOY)
    toy.client.text_document_did_open(types.DidOpenTextDocumentParams(other))
    await toy.killed(toy.workers()[0])
    release.touch()
    await toy.analysed()
    await toy.until(lambda: other.uri in toy.client.published)
    assert toy.told == []


@pytest.mark.asyncio
async def test_a_comparison_is_done_once_more_and_then_given_up_with_a_message(
    toy: Watched, tmp_path: Path
) -> None:
    await toy.start()
    await toy.open(TOY)
    (analysing,) = toy.workers()
    release, begun = tmp_path / "release", tmp_path / "release.begun"

    async def kill() -> None:
        """Kill the comparing process in the middle of its work."""
        assert await eventually(begun.exists)
        begun.unlink()
        await toy.killed(next(one for one in toy.workers() if one != analysing))

    comparison = asyncio.ensure_future(toy.run("cyclelens.compare", f"wait for {release}"))
    await kill()
    await kill()
    with pytest.raises(JsonRpcInternalError, match="ended unexpectedly, twice in a row"):
        await comparison

    comparison = asyncio.ensure_future(toy.run("cyclelens.compare", f"wait for {release}"))
    await kill()
    release.touch()
    assert (await comparison)["text"] == "a table"


@pytest.mark.asyncio
async def test_what_a_figure_is_compared_with_survives_the_death_of_a_worker(real: Watched) -> None:
    await real.start()
    await real.open(CHAIN)
    await real.run("cyclelens.pinBaseline")
    await real.killed(real.workers()[0])
    real.replace_line(2, " add %rax, %rbx")
    await real.analysed()
    label = (await real.labels())[0]
    assert label.startswith("3.00 -> 1.00")
    await real.run("cyclelens.unpinBaseline")
    assert (await real.labels())[0] == label, "that of the last save is the same one"


@pytest_asyncio.fixture
async def advised() -> AsyncIterator[Watched]:
    async for editor in _editor(REAL, advice=True):
        yield editor


async def searcher(editor: Watched) -> Process:
    """The process that searches for rewrites: the one with a lower priority."""

    def found() -> list[Process]:
        return [one for one in editor.workers() if one.niceness > 0]

    assert await eventually(lambda: bool(found()))
    return found()[0]


@pytest.mark.asyncio
async def test_the_death_of_the_search_loses_nothing(advised: Watched) -> None:
    text = KERNELS["dot product of two chained FMAs"].text
    line = text.split("\n").index("# cyclelens-begin loop")

    async def label() -> str:
        return (await advised.labels())[line]

    async def advice() -> str:
        async with asyncio.timeout(TIMEOUT):
            while "rewrite: 0.125" not in (shown := await label()):
                await asyncio.sleep(0.05)
        return shown

    await advised.start()
    await advised.open(text)
    figure = await label()
    assert figure.startswith("0.500 cycles/float")
    await advised.killed(await searcher(advised))  # while it searches
    assert (await label()).startswith("0.500 cycles/float"), "figures are another process's"
    shown = await advice()
    await advised.killed(await searcher(advised))  # while it waits
    assert await label() == shown, "what was found stays"
    advised.type(line + 2, 0, " ")
    await advised.analysed()
    assert "rewrite: 0.125" in await advice(), "and is found again"
    assert advised.told == []


@pytest.mark.skipif(os.name != "posix", reason="a process is stopped by a signal")
@pytest.mark.asyncio
async def test_a_stopped_search_delays_no_hint(advised: Watched) -> None:
    """Stopped while it searches: edit after edit gets its hints. Going on, it searches in the last text."""
    text = KERNELS["dot product of two chained FMAs"].text
    line = text.split("\n").index("# cyclelens-begin loop")
    await advised.start()
    await advised.open(text)
    search = await searcher(advised)
    os.kill(search.pid, signal.SIGSTOP)
    for number in range(5):
        advised.type(line + 2, 0, " ")
        await advised.analysed()
        assert (await advised.labels())[line].startswith("0.500 cycles/float"), number
    # One that cannot be told to stop is replaced.
    if search.runs:
        os.kill(search.pid, signal.SIGCONT)

    async with asyncio.timeout(TIMEOUT):
        while "rewrite: 0.125" not in (await advised.labels())[line]:
            await asyncio.sleep(0.05)
    assert advised.told == []


@pytest.mark.asyncio
async def test_an_assembler_that_dies_while_it_starts_or_waits_is_replaced(real: Watched) -> None:
    await real.start()
    real.send_open(CHAIN)
    assert await eventually(real.assemblers)
    starting = real.assemblers()[0]
    await real.killed(starting)
    await real.analysed()
    first = await real.labels()
    assert first[0].startswith("3.00 cycles/iter")
    real.replace_line(2, " imul %rbx, %rbx")
    await real.analysed()
    assert await eventually(real.assemblers), "the next statement starts another"
    (waiting,) = real.assemblers()
    await real.killed(waiting)
    real.replace_line(2, " lea (%rax,%rbx), %rbx")
    await real.analysed()
    assert (await real.labels())[0].startswith("3.00 -> 1.00")
    assert not any("assembler" in code for _, code in await real.codes())
    assert real.told == []


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="this system has no process groups")
@pytest.mark.asyncio
async def test_a_stopped_assembler_ends_with_its_worker(real: Watched) -> None:
    """It does not notice that its pipe is closed: only its process group leads to it."""
    await real.start()
    await real.open(CHAIN)
    assert await eventually(real.assemblers)
    (assembler,) = real.assemblers()
    os.kill(assembler.pid, signal.SIGSTOP)
    try:
        for worker in real.workers():
            worker.kill()
        assert await eventually(lambda: not assembler.runs)
    finally:
        assembler.kill()
    assert await eventually(lambda: real.workers() != [])


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="this system has no process groups")
def test_with_a_worker_its_children_end() -> None:
    """An assembler that hangs: it would not notice that its worker is gone."""
    parent = "import os, time; os.fork(); print(flush=True); time.sleep(600)"
    command = [sys.executable, "-c", parent]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as worker:
        try:
            assert worker.stdout is not None
            assert [worker.stdout.readline() for _ in range(2)] == [b"\n"] * 2
            end_group(worker.pid)
            # Both have the pipe open: it ends once both are gone.
            assert select.select([worker.stdout], [], [], 30)[0]
            assert worker.stdout.read() == b""
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(worker.pid, signal.SIGKILL)
