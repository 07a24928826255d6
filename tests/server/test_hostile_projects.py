"""Project files, saved states and names of documents that nobody writes by accident, in a running server.

Each gives its message at its place, and other documents go on."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from cyclelens.server.documents.memory import SavedFiles
from lsprotocol import types
from testkit.server.editor import Editor

KERNEL = "# cyclelens-begin dot\n1: imul %rax, %rax\ndec %rcx\njnz 1b\n# cyclelens-end\n"
FIGURE = "3.00 cycles/iter"


@pytest.fixture(autouse=True)
def state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the server starts: states of its own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))


async def goes_on(editor: Editor) -> None:
    """The document's text changes, and its figure is there again."""
    editor.replace_line(2, "dec %rcx" if "sub $1" in editor.text else "sub $1, %rcx")
    await editor.analysed()
    assert FIGURE in (await editor.labels())[0]


def beside(editor: Editor, path: Path, text: str = KERNEL) -> Editor:
    """Another document of the same client."""
    other = Editor(editor.client)
    other.uri = path.as_uri()
    other.text = text
    return other


@pytest.mark.asyncio
async def test_a_project_file_of_wrong_values_is_named_and_its_documents_keep_their_figures(
    editor: Editor, tmp_path: Path
) -> None:
    inside, elsewhere = tmp_path / "inside", tmp_path / "elsewhere"
    for folder in (inside, elsewhere):
        folder.mkdir()
    await editor.start(folder=tmp_path)
    other = beside(editor, elsewhere / "other.s")
    editor.uri = (inside / "k.s").as_uri()
    await other.open(KERNEL)
    await editor.open(KERNEL)
    for content, complaint in {
        b'includePaths = ["a\\u0000b"]': "includePaths: ",
        b'preIncludes = ["a\\u0000b"]': "preIncludes: ",
        b'defines = ["A=\\u0000"]': "defines: ",
        b"includePaths = 5": "includePaths: ",
        b"microarchitectures = [5]": "microarchitectures: ",
        b"mode = []": "mode: ",
        b"files = 1": "files is not a list of tables",
        b"a = \0": "is not TOML",
        b"a = '\xff'": "is not TOML",
        b"a = " + b"[" * 100_000: "is nested too deeply",
    }.items():
        (inside / "cyclelens.toml").write_bytes(content)
        await goes_on(editor)
        said = await editor.message(complaint)
        assert str(inside / "cyclelens.toml") in said
        assert "The last version that could be read is used" in said
        editor.client.messages.clear()
        await goes_on(other)
    assert editor.client.log_messages == []


@pytest.mark.asyncio
async def test_files_that_say_how_a_source_is_compiled_may_hold_anything(
    editor: Editor, tmp_path: Path
) -> None:
    crate = tmp_path / "crate"
    for folder in (crate, crate / "src"):
        folder.mkdir()
    (tmp_path / "k.c").write_text("int x;\n")
    (crate / "src" / "main.rs").write_text("fn main() {}\n")
    chosen = {"allowExternalPrograms": True, "debounceMs": 0}
    editor.client.set_configuration(chosen, section="cyclelens")
    await editor.start(folder=tmp_path)
    other = beside(editor, tmp_path / "other.s")
    await other.open(KERNEL)
    entry = {"directory": str(tmp_path), "file": "k.c"}
    databases = [
        *({**entry, "arguments": words} for words in (5, ["gcc", 5], ["gcc", "\0"], ["gcc", "\ud800"])),
        *({**entry, "command": word} for word in (5, '"', "\0")),
        *({**entry, "directory": folder, "command": "gcc -c k.c"} for folder in (5, "\0")),
    ]
    manifests = ["package = 1\n", "package = []\n", "[package]\nname = 5\n", "a = " + "[" * 100_000, "\0"]
    source = beside(editor, tmp_path / "k.c")
    rust = beside(editor, crate / "src" / "main.rs")
    for document, file, contents in (
        (
            source,
            tmp_path / "compile_commands.json",
            [*(json.dumps([one]) for one in databases), "[" * 100_000, "{}", "[5]"],
        ),
        (rust, crate / "Cargo.toml", manifests),
    ):
        for number, content in enumerate(contents):
            file.write_text(content)
            if number == 0:
                await document.open("//\n")
            else:
                document.replace_line(0, f"// {number}")
            for problem in (await document.analysed()).diagnostics:
                assert (problem.code, problem.range.start.line) == ("not-compiled", 0)
                assert file.name in problem.message
                assert "Traceback" not in problem.message
            await goes_on(other)
    assert editor.client.messages == []
    assert editor.client.log_messages == []


NONE = {"names": ["dot"], "paces": [], "revision": None}


@pytest.mark.asyncio
async def test_a_saved_state_of_wrong_values_is_as_good_as_none(editor: Editor, tmp_path: Path) -> None:
    """The server reads it when a document is opened, after the death of another server."""
    await editor.start(process=os.getpid())
    saved = SavedFiles()
    saved.belongs_to(os.getpid())
    for number, (pace, text) in enumerate(
        [
            ("x", ""),
            (["x", None], ""),
            ([3.0, [0, "byte", ""]], ""),
            ([3.0, [1, 2, ""]], ""),
            ([3.0, None], 5),
        ]
    ):
        document = beside(editor, tmp_path / f"{number}.s")
        pinned = {**NONE, "paces": [["dot", "SKL", pace]]}
        versions = [{"pace": pace, "text": text}]
        history = [{"region": "dot", "microarchitecture": "SKL", "versions": versions}]
        saved.write(document.uri, {"baselines": {"saved": pinned, "pinned": pinned}, "history": history})
        await document.open(KERNEL)
        assert FIGURE in (await document.labels())[0]
        where = types.ExecuteCommandParams("cyclelens.history", [document.uri, "dot"])
        answer = await editor.client.workspace_execute_command_async(where)
        assert [row[:2] for row in answer["rows"]] == [["opened", 3.0]]
    assert editor.client.messages == []
    assert editor.client.log_messages == []


NAMES = {
    "bracket": "file://[bad/x.s",
    "NUL": "file:///a%00b.s",
    "byte": "file:///%ff.s",
    "long": "file:///" + "x" * 5_000 + ".s",
    "nothing": "",
    "NUL without a file": "untitled:\0",
}


@pytest.mark.asyncio
async def test_a_document_of_any_name_has_its_figure(editor: Editor, tmp_path: Path) -> None:
    await editor.start(folder=tmp_path)
    for kind, uri in NAMES.items():
        document = Editor(editor.client)
        document.uri = uri
        await document.open(KERNEL)
        assert FIGURE in (await document.labels())[0], kind
        assert editor.client.messages == []
        where = types.ExecuteCommandParams("cyclelens.compareHead", [uri, "dot"])
        await editor.client.workspace_execute_command_async(where)
        said = await document.message("dot against HEAD")
        assert "The text is not in a file" in said or "not a git repository" in said
        editor.client.messages.clear()
    assert editor.client.log_messages == []
