"""One click measures the instructions that the tables lack and gives the region its figure."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from cyclelens.analyzer.characterizing.missing import lacking
from cyclelens.analyzer.facts.collector import Collector
from cyclelens.analyzer.facts.store import open_store, shipped_tables
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.measuring.harness import PROGRAM, CannotMeasure, Harness
from cyclelens.analyzer.microarchitectures import registry
from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcRequestCancelled
from testkit.server.editor import Editor, with_code_actions
from testkit.server.processes import descendants, eventually

OWN = getattr(registry.native(), "name", "SKL")
TEXT = f"""\
# cyclelens-begin base arch={OWN}
.L1:
    rdfsbase %rax
    add %rax, %rbx
    dec %rcx
    jnz .L1
# cyclelens-end
"""
LINE, CODE = 2, "f3480faec0"
TITLE = "Measure the instructions of base without figures (runs them in a sandbox)"
TRIES = 10


@pytest.fixture(autouse=True)
def state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder of the user's own tables, for servers that start in the test."""
    model = registry.native()
    if (
        model is None
        or not lacking(decode(bytes.fromhex(CODE)), model.facts_name, open_store(shipped_tables())).described
    ):
        pytest.skip("the tables of this machine's core have figures for RDFSBASE, or it has no model")
    try:
        Harness().close()
    except CannotMeasure as error:
        pytest.skip(f"nothing can be measured here: {error}")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.delenv("CYCLELENS_DATA", raising=False)
    return tmp_path


async def clicked(editor: Editor) -> str | None:
    """Run the action's command; a busy machine may need several tries."""
    assert TITLE in [each.title for each in await editor.actions(LINE)]
    for _ in range(TRIES):
        try:
            answer = await editor.run("cyclelens.measureMissing", "base")
        except JsonRpcException as error:
            assert "busy" in str(error) or "more than" in str(error)
            continue
        return None if answer is None else str(answer)
    pytest.skip("the machine is too busy to measure anything")


async def codes(editor: Editor) -> set[str]:
    await editor.complete()
    request = {"textDocument": {"uri": editor.uri}}
    await editor.client.protocol.send_request_async("cyclelens/analysis", request)
    return {str(each.code) for each in editor.client.published[editor.uri].diagnostics}


async def figures_are_there(editor: Editor) -> None:
    for _ in range(300):
        if "unknown-instruction" not in await codes(editor):
            return
        await asyncio.sleep(0.1)
    pytest.fail("the instruction has no figures")


@pytest.mark.asyncio
async def test_a_click_gives_an_unknown_instruction_its_figures(editor: Editor, state: Path) -> None:
    await editor.start(with_code_actions())
    await editor.open(TEXT)
    assert "unknown-instruction" in await codes(editor)
    assert "no figure" in (await editor.labels())[0]
    editor.client.answer = "Run It"
    answer = await clicked(editor)
    assert answer is not None and answer.startswith("1 form of")
    assert len(editor.client.questions) == 1
    await figures_are_there(editor)
    assert "cycles/iter" in (await editor.labels())[0]
    assert TITLE not in [each.title for each in await editor.actions(LINE)]
    assert (state / "cyclelens" / "own.sqlite").exists()
    told = editor.client.messages[-1].message
    assert "RDFSBASE (R64): throughput" in told and "own.sqlite" in told


@pytest.mark.asyncio
async def test_what_lacks_figures_is_not_run_without_leave(editor: Editor, state: Path) -> None:
    await editor.start(with_code_actions())
    await editor.open(TEXT)
    await editor.complete()
    assert await clicked(editor) is None
    assert "sandbox" in editor.client.questions[0]
    assert not (state / "cyclelens" / "own.sqlite").exists()


@pytest.mark.asyncio
async def test_nothing_is_measured_where_programs_must_not_run(editor: Editor) -> None:
    editor.client.set_configuration({"allowExternalPrograms": False}, section="cyclelens")
    editor.client.answer = "Run It"
    await editor.start(with_code_actions())
    await editor.open(TEXT)
    await editor.complete()
    assert TITLE not in [each.title for each in await editor.actions(LINE)]
    with pytest.raises(JsonRpcException, match="only in trusted workspaces"):
        await editor.run("cyclelens.measureMissing", "base")
    assert not editor.client.questions


@pytest.mark.asyncio
async def test_a_region_with_all_figures_says_so(editor: Editor) -> None:
    await editor.start(with_code_actions())
    await editor.open(TEXT.replace("rdfsbase %rax", "imul %rax, %rax"))
    editor.client.answer = "Run It"
    said = await editor.run("cyclelens.measureMissing", "base")
    assert said == f"{OWN} has figures for all instructions"


@pytest.mark.asyncio
async def test_what_another_editor_has_measured_is_used(editor: Editor, state: Path) -> None:
    """A click finds that nothing is left to measure, and the region gets the figures that are there."""
    await editor.start(with_code_actions())
    await editor.open(TEXT)
    assert "unknown-instruction" in await codes(editor)
    store, kept = open_store(shipped_tables()), Collector()
    kept.take(store)
    own = kept.positions[getattr(registry.native(), "facts_name", "SKL")]
    for _, variant, records, _ in kept.variants:
        if variant.name == "RDFSBASE (R64)":
            records[own] = next(iter(records.values()))
    (state / "cyclelens").mkdir(exist_ok=True)
    kept.write(state / "cyclelens" / "own.sqlite")
    editor.client.answer = "Run It"
    assert await clicked(editor) == f"{OWN} has figures for all instructions"
    await figures_are_there(editor)
    assert "cycles/iter" in (await editor.labels())[0]


def begun(editor: Editor) -> list[str]:
    """Tokens of the measurements that the editor shows, those that have ended too."""
    sent = editor.client.progress_reports.items()
    return [
        str(token)
        for token, reports in sent
        if reports and "measuring the instructions" in str(reports[0].message)
    ]


@pytest.mark.asyncio
async def test_a_click_is_cancelled_as_progress_or_as_a_request(editor: Editor, state: Path) -> None:
    """No figure of a cancelled measurement is kept, nothing goes on measuring, and the next click works."""
    able = with_code_actions()
    able.window = types.WindowClientCapabilities(work_done_progress=True)
    await editor.start(able)
    await editor.open(TEXT)
    await editor.complete()
    editor.client.answer = "Run It"
    command = types.ExecuteCommandParams("cyclelens.measureMissing", [editor.uri, "base"])

    def ask(name: str) -> asyncio.Future[object]:
        sent = editor.client.protocol.send_request_async(
            types.WORKSPACE_EXECUTE_COMMAND, command, msg_id=name
        )
        return asyncio.ensure_future(sent)

    asked = ask("first")
    while not begun(editor):
        assert not asked.done()
        await asyncio.sleep(0.01)
    editor.client.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(begun(editor)[0]))
    assert await asked is None
    asked = ask("second")
    while len(begun(editor)) < 2:
        assert not asked.done()
        await asyncio.sleep(0.01)
    editor.client.cancel_request(types.CancelParams("second"))
    with pytest.raises(JsonRpcRequestCancelled):
        await asked
    assert not (state / "cyclelens" / "own.sqlite").exists()
    server = editor.client._server.pid
    assert await eventually(lambda: all(PROGRAM.name not in each.command for each in descendants(server)))
    assert "unknown-instruction" in await codes(editor)
    assert await clicked(editor) is not None
