"""A region's figures since its document was opened, and what survives a killed server."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from cyclelens.analyzer.insight.work import Pace
from cyclelens.analyzer.model.result import Work
from cyclelens.server.documents import memory
from cyclelens.server.documents.baselines import Baselines
from cyclelens.server.documents.history import MOST, History, RegionVersion
from cyclelens.server.documents.memory import SavedFiles
from cyclelens.server.documents.session import Session, Snapshot
from cyclelens.server.features.history import strip
from cyclelens.server.worker_messages.results import FileResult, RegionResult
from lsprotocol import types
from msgspec.structs import replace
from pygls.exceptions import JsonRpcException
from pytest_lsp import ClientServerConfig
from testkit.full_disk import full_disk
from testkit.server.editor import Editor, make_client

URI = "file:///a.s"
KERNEL = "# cyclelens-begin chain\n1:\n imul %rax, %rax\n dec %rcx\n jnz 1b\n# cyclelens-end\n"


class Document:
    """A document with one region, whose figure the test sets."""

    def __init__(self) -> None:
        self.history = History()
        self.snapshot = Session().open(URI, 1, "begin\n first\nend")

    def figure(self, cycles: float, work: Work | None = None, text: str = "") -> Snapshot:
        """Edit the document, if there is a text for it, and answer with this figure."""
        if text:
            self.snapshot = self.snapshot.edited(1, (1, 0), (1, 99), text)
        region = RegionResult("r", 0, 2, True, cycles=cycles, work=work, microarchitecture="SKL")
        self.snapshot = self.snapshot.answered(FileResult((region,)))
        self.history.answered(self.snapshot)
        return self.snapshot

    @property
    def versions(self) -> list[tuple[float, str]]:
        found = self.history.of(self.snapshot, self.snapshot.regions[0])
        return [(version.pace.cycles, version.text.split("\n")[1].strip()) for version in found]


def test_each_other_figure_is_kept_with_its_text() -> None:
    document = Document()
    document.figure(8.0)
    document.figure(4.0, text=" second")
    document.figure(4.001, text=" as fast")
    document.figure(2.0, text=" third")
    assert document.versions == [(8.0, "first"), (4.0, "second"), (2.0, "third")]


def test_a_later_answer_to_the_same_text_takes_the_place_of_the_first() -> None:
    document = Document()
    document.figure(8.0)
    document.figure(3.0, text=" second")
    document.figure(3.5)
    assert document.versions == [(8.0, "first"), (3.5, "second")]
    document.figure(8.0)
    assert document.versions == [(8.0, "first")]


def test_a_figure_for_other_work_is_another_one() -> None:
    document = Document()
    document.figure(4.0, Work(32, "byte", "step of rsi"))
    document.figure(4.0, Work(64, "byte", "step of rsi"), text=" unrolled")
    assert len(document.versions) == 2


def test_the_first_and_the_last_of_many_are_kept() -> None:
    document = Document()
    for number in range(MOST + 20):
        document.figure(100.0 + number, text=f" text {number}")
    figures = [cycles for cycles, _ in document.versions]
    assert figures == [100.0, *(100.0 + number for number in range(21, MOST + 20))]


def test_what_is_being_typed_has_no_figure() -> None:
    document = Document()
    document.figure(8.0)
    snapshot = document.snapshot.edited(2, (1, 0), (1, 0), " half")
    document.history.answered(snapshot)
    assert document.versions == [(8.0, "first")]


def test_a_strip_has_the_first_and_the_last_figures() -> None:
    versions = [RegionVersion(Pace(float(number)), "") for number in range(1, 8)]
    assert strip(versions[:1]) == ""
    assert strip(versions[:3]) == "1.00 -> 2.00 -> 3.00, +200 % time"
    assert strip(versions) == "1.00 -> ... -> 5.00 -> 6.00 -> 7.00, +600 % time"


def test_a_strip_compares_by_work_what_can_be_compared() -> None:
    one, four = (Pace(4.0, Work(amount, "float", "step of rsi")) for amount in (8, 32))
    versions = [RegionVersion(pace, "") for pace in (one, four)]
    unknown = RegionVersion(Pace(8.0), "")
    assert strip(versions) == "0.500 -> 0.125 cycles/float, 4.0x"
    # Figures of an unrolling that was half typed, and of a loop that had no pointers yet, say nothing here.
    assert strip([unknown, versions[0], unknown, versions[1]]) == "0.500 -> 0.125 cycles/float, 4.0x"
    assert strip([*versions, unknown]) == ""
    assert strip([unknown, *versions, RegionVersion(Pace(4.0), "")]) == "8.00 -> 4.00, 2.0x"
    twice = RegionVersion(Pace(8.0, Work(16, "float", "step of rsi")), "")
    assert strip([versions[0], twice]) == "", "as long per float as before"


def test_what_is_known_is_known_again_from_plain_values() -> None:
    document = Document()
    document.figure(8.0, Work(32, "byte", "step of rsi"))
    baselines = Baselines()
    baselines.saved(document.snapshot, wait=False)
    baselines.pin(document.snapshot)
    document.figure(4.0, text=" second")
    state = json.loads(json.dumps([baselines.state(URI), document.history.state(URI)]))

    other, history = Baselines(), History()
    other.restore(URI, state[0])
    history.restore(URI, state[1])
    region = document.snapshot.regions[0]
    assert other.before(document.snapshot, region.result) == Pace(8.0, Work(32, "byte", "step of rsi"))
    other.unpin(URI)
    assert other.before(document.snapshot, region.result) is not None
    known = document.history.of(document.snapshot, region)
    assert [replace(each, revision=None) for each in known] == list(history.of(document.snapshot, region))


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return memory.folder()


def test_a_relative_folder_for_states_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the XDG Base Directory specification says; it would be made in any current folder."""
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    assert memory.folder().is_absolute()


def kept(editor: int | None = os.getpid()) -> SavedFiles:
    found = SavedFiles()
    found.belongs_to(editor)
    return found


def test_the_same_editor_alone_gets_back_what_was_kept(state: Path) -> None:
    kept().write(URI, {"a": 1})
    assert kept().read(URI) == {"a": 1}
    assert kept(os.getppid()).read(URI) is None
    (file,) = state.iterdir()
    assert os.name != "posix" or file.stat().st_mode & 0o077 == 0, "for nobody else"
    kept().forget(URI)
    assert list(state.iterdir()) == []


def test_an_editor_that_does_not_say_who_it_is_leaves_nothing_behind(state: Path) -> None:
    kept(None).write(URI, {"a": 1})
    assert not state.exists()


def test_what_cannot_be_read_is_not_there(state: Path) -> None:
    kept().write(URI, {"a": 1})
    (file,) = state.iterdir()
    file.write_text("{", encoding="utf-8")
    assert kept().read(URI) is None


@pytest.mark.skipif(os.name != "posix", reason="processes are asked for by signal 0")
def test_files_of_editors_that_are_gone_are_removed(state: Path) -> None:
    kept(2**22 + 1).write(URI, {"a": 1})
    assert len(list(state.iterdir())) == 1
    kept()
    assert list(state.iterdir()) == []


def test_a_full_disk_leaves_no_file(state: Path) -> None:
    with full_disk():
        kept().write(URI, {"a": 1})
    assert list(state.iterdir()) == []
    kept().write(URI, {"a": 1})
    assert kept().read(URI) == {"a": 1}


@pytest.mark.skipif(os.name != "posix", reason="processes are asked for by signal 0")
def test_a_file_that_a_killed_server_has_not_completed_is_removed(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as killed:
        killed.setattr("os.replace", lambda _new, _old: None)
        kept(2**22 + 1).write(URI, {"a": 1})
    assert len(list(state.iterdir())) == 1
    kept()
    assert list(state.iterdir()) == []


async def _serve(folder: Path) -> Editor:
    command = [sys.executable, "-m", "cyclelens.analyzer.cli.main", "lsp"]
    environment = {**os.environ, "XDG_STATE_HOME": str(folder)}
    client: Any = await ClientServerConfig(
        server_command=command, client_factory=make_client, server_env=environment
    ).start()
    client.set_configuration({"debounceMs": 10}, section="cyclelens")
    editor = Editor(client)
    await editor.start(process=os.getpid())
    return editor


@pytest.mark.asyncio
async def test_a_server_that_is_killed_has_forgotten_nothing(tmp_path: Path) -> None:
    first = await _serve(tmp_path)
    await first.open(KERNEL)
    first.replace_line(2, " nop")
    await first.until_label(0, "3.00 -> 1.00")
    while not (files := list((tmp_path / "cyclelens").glob("*.json"))) or "nop" not in files[0].read_text():
        await first.pause()
    first.client._server.kill()

    second = await _serve(tmp_path)
    await second.open(first.text)
    assert (await second.labels())[0].startswith("3.00 -> 1.00, 3.0x")
    document = types.TextDocumentIdentifier(second.uri)
    lenses = await second.client.text_document_code_lens_async(types.CodeLensParams(document))
    assert lenses[-1].command.title == "3.00 -> 1.00, 3.0x"
    answer = await second.client.workspace_execute_command_async(
        types.ExecuteCommandParams("cyclelens.history", [second.uri, "chain"])
    )
    assert [list(row)[:2] for row in answer["rows"]] == [["opened", 3.0], ["now", 1.0]]
    assert "imul" in answer["versions"][0]
    await second.client.shutdown_session()
    await second.client.stop()
    assert list((tmp_path / "cyclelens").iterdir()) == []


@pytest.mark.asyncio
async def test_a_region_without_any_figure_has_an_empty_history(tmp_path: Path) -> None:
    editor = await _serve(tmp_path)
    await editor.open(KERNEL.replace("dec", "deq"))

    async def asked(where: str) -> Any:
        return await editor.client.workspace_execute_command_async(
            types.ExecuteCommandParams("cyclelens.history", [editor.uri, where])
        )

    answer = await asked("chain")
    assert (answer["text"], answer["rows"], answer["versions"]) == ("There is no figure yet.", [], [])
    with pytest.raises(JsonRpcException, match="There is no region 'other' in this file"):
        await asked("other")
    await editor.client.shutdown_session()
    await editor.client.stop()
