"""From the editor to the assembler: which programs may run and which files may be read for a text on
disk."""

from __future__ import annotations

import asyncio
import io
import shutil
from pathlib import Path

import pytest
from cyclelens.analyzer.model.source import Origin
from cyclelens.server.app import create_server
from cyclelens.server.documents.origins import origin_of
from lsprotocol import types
from pygls.io_ import StdoutWriter
from testkit.server.editor import Editor

TEXT = """\
#include "step.h"
kernel:
1:  STEP
    dec %rcx
    jnz 1b
"""


@pytest.fixture
def editor(editor: Editor, tmp_path: Path) -> Editor:
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "step.h").write_text("#define STEP imul %rax, %rax\n")
    editor.uri = (tmp_path / "k.S").as_uri()
    return editor


@pytest.mark.asyncio
@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler on PATH")
async def test_programs_run_and_files_are_read_only_with_leave(editor: Editor) -> None:
    settings = {"regions": "loops", "includePaths": ["include"], "allowExternalPrograms": False}
    editor.client.set_configuration(settings, section="cyclelens")
    await editor.start()
    await editor.open(TEXT)
    assert (0, "not-preprocessed") in await editor.codes()
    editor.client.set_configuration({**settings, "allowExternalPrograms": True}, section="cyclelens")
    editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings=None))
    while (0, "not-preprocessed") in await editor.codes():
        await asyncio.sleep(0.05)
    assert await editor.codes() == []
    assert "3.00 cycles/iter · SKL" in (await editor.labels())[2]


@pytest.mark.asyncio
async def test_an_unmarked_file_of_nasm_says_why_a_loop_has_no_figure(editor: Editor, tmp_path: Path) -> None:
    editor.client.set_configuration({"allowExternalPrograms": False}, section="cyclelens")
    editor.uri = (tmp_path / "k.asm").as_uri()
    await editor.start()
    macro = "%macro step 1\n    imul rax, [rdi + %1]\n%endmacro\n"
    await editor.open(f"{macro}k:\n.next:\n    step 0\n    dec rsi\n    jnz .next\n")
    assert await editor.codes() == [(0, "assembler-unavailable")]
    editor.replace_all(f"{macro}k:\n.next:\n    dec rsi\n    jnz .next\n")
    assert await editor.codes() == []


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "name", ["{outside}/perf.txt", "{outside}/absent.txt", "../outside/perf.txt", "link"]
)
async def test_in_a_folder_without_trust_a_profile_elsewhere_is_not_opened(
    editor: Editor, tmp_path: Path, name: str
) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (outside / "perf.txt").write_text("neither branches nor percentages\n")
    (inside / "link").symlink_to(outside / "perf.txt")
    settings = {"allowExternalPrograms": False, "profile": name.format(outside=outside), "advice": False}
    editor.client.set_configuration(settings, section="cyclelens")
    editor.uri = (inside / "k.s").as_uri()
    await editor.start(folder=inside)
    text = "# cyclelens-begin dot\n1: imul %rax, %rax\ndec %rcx\njnz 1b\n# cyclelens-end\n"
    await editor.open(text)
    assert "is outside the workspace" in await editor.message("cyclelens.profile: ")
    assert "3.00 cycles/iter" in (await editor.labels())[0]
    # Not even whether the file exists.
    assert await editor.codes() == []
    if name == "link":
        return
    # With trust, it is read: it has no branches, or does not exist.
    trusted = {**settings, "allowExternalPrograms": True}
    editor.client.set_configuration(trusted, section="cyclelens")
    editor.changed_settings()
    async with asyncio.timeout(60):
        while (0, "no-profile") not in await editor.codes():
            await asyncio.sleep(0.05)


@pytest.mark.asyncio
async def test_a_source_is_answered_although_an_assembly_text_had_the_same_number(
    editor: Editor, tmp_path: Path
) -> None:
    """Each kind of document has a worker with numbers of its own, which begin at 1."""
    await editor.start(folder=tmp_path)
    editor.uri = (tmp_path / "k.s").as_uri()
    await editor.open("nop\n")
    editor.uri = (tmp_path / "k.c").as_uri()
    await editor.open("int x;\n")


@pytest.mark.asyncio
async def test_a_source_is_passed_to_the_compilers_only_while_sources_are_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = create_server()
    scheduled: list[str] = []
    monkeypatch.setattr(server.source_jobs, "edited", lambda uri, _job, _delay: scheduled.append(uri))
    server.protocol.set_writer(StdoutWriter(io.BytesIO()))
    document = {"uri": "file:///dot.c", "languageId": "c", "version": 0, "text": "int x;\n"}
    begin = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}
    opened = {"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": document}}
    server.protocol.receive(begin)
    server.configure({"sources": False})
    server.protocol.receive(opened)
    assert [snapshot.uri for snapshot in server.session] == [document["uri"]]
    assert scheduled == []
    server.configure({"sources": True})
    assert scheduled == [document["uri"]]


def test_a_document_has_the_folders_of_its_workspace() -> None:
    file, other = "file:///w/src/k.S", "file:///v"
    paths = ("inc", "/usr/inc")
    assert origin_of(file, ["file:///w", other], paths, ("X",)) == Origin(
        "/w/src/k.S", ("/w", "/v"), ("/w/inc", "/v/inc", "/usr/inc"), ("X",)
    )
    assert origin_of(file, [None], paths, ()) == Origin("/w/src/k.S", ("/w/src",), ("/w/src/inc", "/usr/inc"))
    assert origin_of("untitled:1", [], paths, ()) == Origin("", (), ("/usr/inc",))


@pytest.mark.parametrize(
    "uri", ["untitled:x.s", "file:///a%00b.s", "file://[bad/x.s", "file:///\ud800.s", "file:///\udfff/x.s"]
)
def test_a_uri_that_names_no_file_has_no_path(uri: str) -> None:
    assert origin_of(uri, [], [], []).path == ""


def test_files_before_a_document_are_looked_for_in_the_workspace_and_beside_what_it_includes(
    tmp_path: Path,
) -> None:
    folder, build = tmp_path / "w", tmp_path / "build"
    folder.mkdir()
    build.mkdir()
    (build / "config.asm").touch()
    names = ("config.asm", "none.asm", "/c.asm")
    found = origin_of("file:///x/k.asm", [folder.as_uri()], (str(build),), (), names).pre_includes
    assert found == (str(build / "config.asm"), str(folder / "none.asm"), "/c.asm")
