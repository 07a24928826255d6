"""Files of the workspace that are not open: those that a text includes, and those whose problems a client
asks for."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from testkit.server.editor import Editor, small_capabilities

KERNEL = "# cyclelens-begin x\n    imul %rax, %rbx\n    dec %r15\n# cyclelens-end\n"


async def started(editor: Editor, folder: Path, **settings: Any) -> None:
    editor.client.set_configuration({"microarchitectures": ["SKL"], **settings}, section="cyclelens")
    await editor.start(small_capabilities(), folder=folder)


async def reports(editor: Editor, previous: list[types.PreviousResultId] | None = None) -> list[Any]:
    request = types.WorkspaceDiagnosticParams(previous or [])
    answer = await editor.client.workspace_diagnostic_async(request)
    return list(answer.items)


def changed(editor: Editor, file: Path) -> None:
    event = types.FileEvent(file.as_uri(), types.FileChangeType.Changed)
    editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))


@pytest.mark.asyncio
async def test_problems_of_files_that_are_not_open_are_reported_on_request(
    editor: Editor, tmp_path: Path
) -> None:
    wrong = tmp_path / "inner" / "wrong.s"
    wrong.parent.mkdir()
    wrong.write_text(KERNEL.replace("imul", "imull_"))
    (tmp_path / "good.asm").write_text(KERNEL)
    (tmp_path / "notes.txt").write_text("addd\n")
    hidden = tmp_path / ".cache"
    hidden.mkdir()
    (hidden / "wrong.s").write_text(KERNEL.replace("imul", "imull_"))
    (tmp_path / "link.s").symlink_to("/etc/hosts")
    opened = tmp_path / "open.s"
    opened.write_text(KERNEL)
    await started(editor, tmp_path, **{"diagnostics.workspace": True})
    editor.uri = opened.as_uri()
    await editor.open(KERNEL)
    first = {each.uri: each for each in await reports(editor)}
    assert first.keys() == {wrong.as_uri(), (tmp_path / "good.asm").as_uri()}
    found = first[wrong.as_uri()].items
    assert [(each.range.start.line, each.code) for each in found] == [(1, "unsupported-instruction")]
    assert all(
        each.severity != types.DiagnosticSeverity.Error
        for each in first[(tmp_path / "good.asm").as_uri()].items
    )
    known = [types.PreviousResultId(uri, each.result_id) for uri, each in first.items()]
    assert {each.kind for each in await reports(editor, known)} == {"unchanged"}
    wrong.write_text(KERNEL)
    again = {each.uri: each for each in await reports(editor, known)}
    assert again[wrong.as_uri()].kind == "full"
    assert "unsupported-instruction" not in [each.code for each in again[wrong.as_uri()].items]
    assert again[(tmp_path / "good.asm").as_uri()].kind == "unchanged"


@pytest.mark.asyncio
async def test_closed_files_are_not_read_unless_the_user_wants_it(editor: Editor, tmp_path: Path) -> None:
    (tmp_path / "wrong.s").write_text(KERNEL.replace("imul", "imull_"))
    await started(editor, tmp_path)
    assert await reports(editor) == []


@pytest.mark.asyncio
async def test_an_edit_does_not_wait_for_the_problems_of_the_workspace(
    editor: Editor, tmp_path: Path
) -> None:
    for number in range(30):
        body = "    vfmadd231ps (%rsi), %ymm1, %ymm0\n" * (200 + number)
        (tmp_path / f"k{number}.s").write_text(f"# cyclelens-begin k\n{body}# cyclelens-end\n")
    await started(editor, tmp_path, **{"diagnostics.workspace": True, "debounceMs": 10})
    editor.uri = (tmp_path / "open.s").as_uri()
    await editor.open(KERNEL)
    request = asyncio.ensure_future(reports(editor))
    await editor.pause()
    editor.replace_line(1, "    imull_ %rax, %rbx")
    shown = await editor.analysed()
    assert "unsupported-instruction" in [each.code for each in shown.diagnostics]
    assert not request.done(), "the edit came first"
    assert len(await request) == 30


@pytest.mark.asyncio
async def test_a_changed_included_file_repeats_the_analysis_of_who_includes_it(
    editor: Editor, tmp_path: Path
) -> None:
    part = tmp_path / "part.inc"
    part.write_text(".equ STEP, 8\n")
    await started(editor, tmp_path)
    editor.uri = (tmp_path / "kernel.s").as_uri()
    text = '.include "part.inc"\n# cyclelens-begin x\n    add $STEP, %rax\n    dec %r15\n# cyclelens-end\n'
    await editor.open(text)
    assert await editor.codes() == []
    part.write_text(".equ OTHER, 8\n")
    changed(editor, part)
    await editor.until(lambda: editor.client.published[editor.uri].diagnostics)
    assert await editor.codes() == [(2, "undefined-symbol")]
