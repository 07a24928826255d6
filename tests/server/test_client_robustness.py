"""A real client over stdio, and a worker that fails in every way on request."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from inspect import signature
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from cyclelens.server.app import create_server
from cyclelens.server.features.inlay_hints import REPEAT_SECONDS
from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams, JsonRpcRequestCancelled
from pytest_lsp import ClientServerConfig
from testkit.server.editor import Editor, make_client, small_capabilities
from testkit.server.preloaded import FAKE
from testkit.server.processes import descendants, eventually, process

# The real program, for starts and ends of processes.
SERVER = [sys.executable, str(Path(__file__).parents[1] / "testkit" / "server" / "serve_fake.py")]

GOOD = "region one\n  add\nend\nregion two\n  mul\nend"


@pytest.fixture
def server_command(preloaded: list[str]) -> list[str]:
    return [*preloaded, FAKE]


@pytest.fixture
def editor(editor: Editor) -> Editor:
    editor.client.set_configuration({"debounceMs": 10}, section="cyclelens")
    return editor


@pytest.mark.asyncio
async def test_after_a_crash_the_hints_stay_marked_and_the_next_edit_mends_them(editor: Editor) -> None:
    await editor.start()
    await editor.open(GOOD)
    editor.replace_line(1, "  die")
    await editor.message("ended unexpectedly")
    labels = await editor.labels()
    assert labels[0] == "1 cycles (stale)"
    assert labels[3] == "1 cycles (stale)"
    editor.replace_line(1, "  sub")
    await editor.analysed()
    assert await editor.labels() == {0: "1 cycles", 1: "sub", 3: "1 cycles", 4: "mul"}


@pytest.mark.asyncio
async def test_trouble_is_shown_once_until_things_work_again(editor: Editor) -> None:
    await editor.start()
    await editor.open(GOOD)
    for logged in (1, 3, 5):  # the traceback each time, and what is not shown again
        editor.replace_line(1, "  raise")
        await editor.logged(logged)
    assert len(editor.client.messages) == 1
    assert "a mistake on purpose" in editor.client.log_messages[0].message


@pytest.mark.asyncio
async def test_an_analysis_that_hangs_is_given_up(editor: Editor) -> None:
    editor.client.set_configuration({"debounceMs": 10, "timeoutMs": 100}, section="cyclelens")
    await editor.start()
    editor.client.text_document_did_open(
        types.DidOpenTextDocumentParams(types.TextDocumentItem(editor.uri, "asm", 0, "hang"))
    )
    await editor.message("took more than 0.1 s")
    editor.client.set_configuration({"timeoutMs": 10000}, section="cyclelens")
    editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings=None))
    editor.replace_all(GOOD)
    await editor.analysed()
    assert (await editor.labels())[0] == "1 cycles"


@pytest.mark.asyncio
async def test_requests_are_answered_while_an_analysis_runs(editor: Editor) -> None:
    await editor.start()
    await editor.open(GOOD)
    editor.replace_line(4, "  wait until cancelled")
    labels = await editor.labels()
    assert labels[0] == "1 cycles"
    assert labels[3] == "1 cycles (stale)"
    assert await editor.hover(1) == "card of add"


@pytest.mark.asyncio
async def test_a_hover_waits_for_cards_that_follow_the_figures(editor: Editor) -> None:
    await editor.start()
    await editor.open(GOOD + "\n; cards later")
    assert await editor.hover(1) == "card of add"


@pytest.mark.asyncio
async def test_a_hover_shows_the_last_cards_if_new_ones_do_not_come(editor: Editor) -> None:
    await editor.start()
    await editor.open(GOOD)
    editor.replace_all("; cards later, no cards\n" + GOOD)
    await editor.analysed()
    assert (await editor.labels())[1] == "1 cycles"
    assert await editor.hover(2) == "card of add"


@pytest.mark.asyncio
async def test_a_hover_shows_its_card_if_no_timeline_comes(editor: Editor) -> None:
    """Figures of an edit do not wait for one either."""
    await editor.start()
    await editor.open("region drawn\n  add\nend\nregion endless\n  add\nend\nregion broken\n  add\nend")
    assert await editor.hover(1) == "card of add\n\nline 1 of drawn"
    assert await editor.hover(7) == "card of add"
    await editor.logged(1)
    assert "a mistake on purpose" in editor.client.log_messages[0].message
    slow = asyncio.create_task(editor.hover(4))
    await asyncio.sleep(0.05)
    editor.replace_line(1, "  add\n  add")
    await editor.analysed()
    assert (await editor.labels())[0] == "2 cycles"
    assert await slow == "card of add"


@pytest.mark.asyncio
async def test_what_a_worker_prints_does_not_reach_the_protocol(editor: Editor) -> None:
    await editor.start()
    await editor.open(GOOD + "\n; print")
    assert (await editor.labels())[0] == "1 cycles"


@pytest.mark.asyncio
async def test_nothing_is_analysed_before_the_settings_are_known(editor: Editor) -> None:
    editor.client.set_configuration({"hints": {"ports": False}, "syntax": "nasm"}, section="cyclelens")
    await editor.start()
    await editor.open(GOOD)
    message = await editor.message("syntax")
    assert message == (
        "Setting cyclelens.syntax: 'nasm' is not one of auto, att, intel. The default, auto, is used."
    )


@pytest.mark.asyncio
async def test_a_client_without_configuration_requests_sends_its_settings(editor: Editor) -> None:
    await editor.start(types.ClientCapabilities(), options={"debounceMs": "soon"})
    await editor.message("'soon' is not a whole number")
    editor.client.workspace_did_change_configuration(
        types.DidChangeConfigurationParams(settings={"cyclelens": {"mode": "twice"}})
    )
    await editor.message("'twice' is not one of auto, loop, unroll")


@pytest.mark.asyncio
async def test_a_client_without_refresh_is_not_asked_to_refresh(editor: Editor) -> None:
    await editor.start(types.ClientCapabilities())
    await editor.open(GOOD)
    await editor.labels()
    assert editor.client.requests == []


@pytest.mark.asyncio
async def test_a_refresh_that_brings_no_request_is_repeated(editor: Editor) -> None:
    """VS Code drops a refresh that arrives while it takes in the answer to an earlier request."""

    def refreshes() -> int:
        methods = [method for method, _ in editor.client.requests]
        return methods.count(types.WORKSPACE_INLAY_HINT_REFRESH)

    await editor.start()
    await editor.open(GOOD)
    await editor.complete()
    assert refreshes() == 1, "nobody has requested hints: none can be old"
    await editor.labels()
    editor.type(0, 0, " ")
    await editor.complete()
    await editor.until(lambda: refreshes() >= 3)
    await editor.labels()
    count = refreshes()
    await asyncio.sleep(REPEAT_SECONDS[1] + 0.2)
    assert refreshes() == count, "the request that followed has the present hints"


@pytest.mark.asyncio
async def test_closing_a_document_takes_its_diagnostics_away(editor: Editor) -> None:
    await editor.start()
    await editor.open("region one\n  bad\nend")
    assert await editor.codes() == [(1, "fake-problem")]
    editor.client.text_document_did_close(
        types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(editor.uri))
    )
    await editor.until(lambda: not editor.client.published[editor.uri].diagnostics)
    assert await editor.hints() == []


@pytest.mark.asyncio
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="processes cannot be killed this way here")
async def test_a_worker_outlives_neither_its_server_nor_a_hanging_analysis() -> None:
    client: Any = await ClientServerConfig(server_command=SERVER, client_factory=make_client).start()
    editor = Editor(client)
    await editor.start()
    await editor.open(GOOD)
    server = client._server.pid
    started = list(descendants(server))
    assert started
    editor.replace_line(1, "  hang")
    os.kill(server, signal.SIGKILL)
    await client._server.wait()
    await client.stop()
    assert await eventually(lambda: not any(one.runs for one in started))


@pytest.mark.parametrize("politely", [True, False], ids=["after a shutdown", "after being killed"])
@pytest.mark.asyncio
async def test_what_the_analysis_started_ends_with_the_server(politely: bool) -> None:
    client: Any = await ClientServerConfig(server_command=SERVER, client_factory=make_client).start()
    editor = Editor(client)
    await editor.start()
    await editor.open("spawn")
    (problem,) = (await editor.analysed()).diagnostics
    if politely:
        await client.shutdown_session()
    else:
        os.kill(client._server.pid, signal.SIGKILL)
        await client._server.wait()
    await client.stop()
    assert await eventually(lambda: process(int(problem.message)) is None)


@pytest.mark.asyncio
async def test_a_long_analysis_is_shown_and_can_be_cancelled() -> None:
    client: Any = await ClientServerConfig(server_command=SERVER, client_factory=make_client).start()
    editor = Editor(client)
    able = small_capabilities()
    able.window = types.WindowClientCapabilities(work_done_progress=True)
    await editor.start(able)
    await editor.open(GOOD)
    known = set(client.progress_reports)  # on a slow machine the first one already took long
    editor.replace_all("wait until cancelled")
    while not (
        new := [token for token, sent in client.progress_reports.items() if sent and token not in known]
    ):
        await asyncio.sleep(0.02)
    (token,) = new
    reports = client.progress_reports[token]
    assert (reports[0].title, reports[0].cancellable) == ("Cyclelens", True)
    client.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(token))
    while len(client.progress_reports[token]) < 2:
        await asyncio.sleep(0.02)
    assert client.progress_reports[token][-1].kind == "end"
    editor.replace_all(GOOD)
    await editor.analysed()
    assert client.messages == []
    await client.shutdown_session()
    await client.stop()


@pytest.mark.asyncio
async def test_a_long_comparison_shows_its_steps_and_no_edit_waits_for_it(editor: Editor) -> None:
    able = small_capabilities()
    able.window = types.WindowClientCapabilities(work_done_progress=True)
    await editor.start(able)
    await editor.open(GOOD)
    comparison = asyncio.ensure_future(editor.run("cyclelens.compare", "long"))
    editor.replace_line(1, "  sub")
    await editor.analysed()
    assert not comparison.done()
    assert (await comparison)["text"] == "a table"
    reports = [report for sent in editor.client.progress_reports.values() for report in sent]
    assert "comparing long" in [report.message for report in reports if report.kind == "begin"]
    assert any(report.kind == "report" and report.message.endswith("of 10") for report in reports)


@pytest.mark.asyncio
async def test_a_comparison_is_cancelled_as_progress_or_as_a_request(editor: Editor) -> None:
    client = editor.client
    able = small_capabilities()
    able.window = types.WindowClientCapabilities(work_done_progress=True)
    await editor.start(able)
    await editor.open(GOOD)
    endless = asyncio.ensure_future(editor.run("cyclelens.compare", "endless"))

    def shown() -> list[str]:
        sent = client.progress_reports.items()
        return [t for t, reports in sent if reports and "comparing" in str(reports[0].message)]

    while not shown():
        await asyncio.sleep(0.02)
    client.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(shown()[0]))
    assert await endless is None
    request = types.ExecuteCommandParams("cyclelens.compare", [editor.uri, "endless"])
    sent = client.protocol.send_request_async(types.WORKSPACE_EXECUTE_COMMAND, request, msg_id="stop me")
    endless = asyncio.ensure_future(sent)
    await asyncio.sleep(0.1)
    client.cancel_request(types.CancelParams("stop me"))
    with pytest.raises(JsonRpcRequestCancelled):
        await endless
    # Neither keeps the process busy: the next one is answered.
    assert (await editor.run("cyclelens.compare", "one"))["text"] == "a table"
    assert client.messages == [] or all("a table" in message.message for message in client.messages)


@pytest.mark.asyncio
async def test_a_command_with_other_arguments_is_refused(editor: Editor) -> None:
    await editor.start()
    await editor.open(GOOD)
    for arguments in ([], [7, "one"], [editor.uri], [editor.uri, None], [editor.uri, "one", "more"]):
        request = types.ExecuteCommandParams("cyclelens.compare", arguments)
        with pytest.raises(JsonRpcInvalidParams):
            await editor.client.workspace_execute_command_async(request)


@pytest.mark.asyncio
async def test_every_command_refuses_values_of_other_types(editor: Editor) -> None:
    await editor.start()
    await editor.open(GOOD)
    commands = create_server().protocol.fm.commands
    assert len(commands) > 10
    for name, command in commands.items():
        good = [editor.uri, "one", "two"][: len(signature(command).parameters)]
        values: tuple[Any, ...] = (None, 1.5, [], {"uri": editor.uri})
        for at, odd in product(range(len(good)), values):
            request = types.ExecuteCommandParams(name, [*good[:at], odd, *good[at + 1 :]])
            with pytest.raises(JsonRpcInvalidParams, match=f"{name}: .* must be str"):
                await editor.client.workspace_execute_command_async(request)


@pytest.mark.asyncio
async def test_shutdown_leaves_no_process_and_no_error() -> None:
    client: Any = await ClientServerConfig(server_command=SERVER, client_factory=make_client).start()
    editor = Editor(client)
    await editor.start()
    await editor.open(GOOD)
    started = list(descendants(client._server.pid))
    await client.shutdown_session()
    assert client._server.returncode == 0
    await client.stop()
    assert await eventually(lambda: not any(one.runs for one in started))
