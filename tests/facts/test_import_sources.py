"""Sources and targets of the importer: damaged, endless, missing, and what the command prints."""

from __future__ import annotations

import io
import lzma
import os
import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from cyclelens.analyzer.cli.import_tables import run_import
from cyclelens.analyzer.facts import collector, importer
from cyclelens.analyzer.facts.importer import ImportProblem, import_tables
from cyclelens.analyzer.facts.store import default_tables, open_store
from testkit.published_tables import ADD, document, imported, instruction

# Any source gives one clear problem, and the earlier tables stay.
WHOLE = document(ADD).encode()


BAD_SOURCES = {
    "empty": (b"", "not an XML file"),
    "garbage": (bytes(range(256)) * 50, "not an XML file"),
    "plain text": (b"just some text\n", "not an XML file"),
    "html": (b"<html><body><p>Not found</p></body></html>", "holds no measurements"),
    "many foreign elements": (b"<root>" + b"<row a='1'/>" * 3000 + b"</root>", "holds no measurements"),
    "no measurements": (document('<instruction iform="X" string="X"/>').encode(), "holds no measurements"),
    "cut off": (WHOLE[: len(WHOLE) * 2 // 3], "damaged"),
    "cut off xz": (lzma.compress(WHOLE)[:-40], "damaged"),
    "damaged xz": (lzma.compress(WHOLE)[:60] + b"\0" * 40 + lzma.compress(WHOLE)[100:], "damaged"),
    "no name": (document('<instruction iform="X"/>').encode(), "without a name"),
    "no number": (document(instruction('uops="many"')).encode(), "THING (R64): uops="),
    "infinite": (document(instruction('uops="inf"')).encode(), "THING (R64): uops="),
    "odd ports": (document(instruction('ports="p01"')).encode(), "THING (R64): ports="),
    "odd latency": (document(instruction(latencies='<latency cycles="1"/>')).encode(), "without operands"),
    "odd operand": (document(instruction(operands='<operand name="REG0"/>')).encode(), "without number"),
}


ENDLESS = {
    "an attribute": b'<instruction iform="',
    "a text": b"<instruction>",
    "a comment": b"<!-- <",
    "parts of an instruction": b"<instruction>",
    "elements behind the last instruction": b"",
}


@pytest.mark.parametrize("kind", ENDLESS)
def test_what_a_packed_file_swells_to_is_not_read_to_its_end(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importer, "_MOST_BETWEEN", 1 << 20)
    read = 0

    class Counted(lzma.LZMAFile):
        def read(self, size: int | None = -1) -> bytes:
            nonlocal read
            data = super().read(size)
            read += len(data)
            return data

    monkeypatch.setattr(lzma, "LZMAFile", Counted)
    filler = b"<operand/>" if "s " in kind else b"x" * 10
    begin = WHOLE.replace(b"</extension></root>", b"")
    source = tmp_path / "bomb.xml.xz"
    source.write_bytes(lzma.compress(begin + ENDLESS[kind] + filler * 1_000_000, preset=0))
    with pytest.raises(ImportProblem, match="after it hold no other instruction"):
        import_tables(source, tmp_path / "tables")
    assert read < 2 << 20


def test_any_mistyped_source_is_imported_or_is_one_problem(tmp_path: Path) -> None:
    source, target = tmp_path / "facts.xml", tmp_path / "tables.sqlite"
    chance = random.Random(1)
    outcomes = set()
    for number in range(400):
        content = bytearray(WHOLE if number % 4 else lzma.compress(WHOLE))
        place = chance.randrange(len(content))
        content[place : place + chance.randrange(20)] = chance.choices(b'0159<>"=/ az*+\xff', k=3)
        source.write_bytes(content)
        try:
            import_tables(source, target)
            outcomes.add("imported")
        except ImportProblem:
            outcomes.add("problem")
    assert outcomes == {"imported", "problem"}


@pytest.mark.parametrize("kind", BAD_SOURCES)
def test_a_bad_source_is_one_problem_and_the_old_tables_stay(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importer, "_FOREIGN_AFTER", 1000)
    content, message = BAD_SOURCES[kind]
    target = imported(tmp_path, ADD)
    before = target.read_bytes()
    source = tmp_path / "bad.xml.xz"
    source.write_bytes(content)
    names = sorted(os.listdir(tmp_path))
    with pytest.raises(ImportProblem) as problem:
        import_tables(source, target)
    assert message in str(problem.value)
    assert str(source) in str(problem.value)
    assert "\n" not in str(problem.value)
    assert target.read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == names


def test_a_foreign_file_is_not_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importer, "_FOREIGN_AFTER", 1000)
    source = tmp_path / "foreign.xml"
    # Reading on would meet the syntax error at the end.
    source.write_bytes(b"<root>" + b"<row/>" * 200_000 + b"<<<")
    with pytest.raises(ImportProblem, match="holds no measurements"):
        import_tables(source, tmp_path / "tables.sqlite")


def test_entities_cannot_pull_in_other_files(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("SECRET")
    operand = '<operand idx="1" name="REG0" type="reg">&other;</operand>'
    source = tmp_path / "facts.xml"
    entity = f'<!DOCTYPE root [<!ENTITY other SYSTEM "{secret.as_uri()}">]>'
    source.write_text(entity + document(instruction(operands=operand)))
    target = tmp_path / "tables.sqlite"
    import_tables(source, target)
    assert b"SECRET" not in target.read_bytes()


def test_a_source_that_is_missing_or_a_folder(tmp_path: Path) -> None:
    for source in (tmp_path / "nowhere.xml", tmp_path):
        with pytest.raises(ImportProblem, match="cannot be read"):
            import_tables(source, tmp_path / "tables.sqlite")
    assert not list(tmp_path.iterdir())


def test_a_target_that_cannot_be_written(tmp_path: Path) -> None:
    source = tmp_path / "facts.xml"
    source.write_text(document(ADD))
    folder = tmp_path / "folder"
    folder.mkdir()
    for target in (tmp_path / "nowhere" / "tables.sqlite", folder):
        with pytest.raises(ImportProblem, match="cannot be written"):
            import_tables(source, target)
    assert sorted(os.listdir(tmp_path)) == ["facts.xml", "folder"]


def test_the_source_is_never_overwritten(tmp_path: Path) -> None:
    source = tmp_path / "facts.xml"
    source.write_text(document(ADD))
    with pytest.raises(ImportProblem, match="choose another"):
        import_tables(source, source)
    assert source.read_text() == document(ADD)


def test_a_failure_while_writing_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = imported(tmp_path, ADD)
    before, names = target.read_bytes(), sorted(os.listdir(tmp_path))

    def full(collector: object, path: Path) -> None:
        path.write_bytes(b"half a table")
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(collector.Collector, "write", full)
    with pytest.raises(ImportProblem, match="disk is full"):
        import_tables(tmp_path / "facts.xml", target)
    assert target.read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == names


def test_progress_grows_to_the_size_of_the_source(tmp_path: Path) -> None:
    source = tmp_path / "facts.xml"
    source.write_text(document(*(instruction(name=f"I{n}") for n in range(2000))))
    calls: list[tuple[int, int]] = []
    import_tables(source, tmp_path / "tables.sqlite", lambda done, total: calls.append((done, total)))
    done = [d for d, _ in calls]
    assert {total for _, total in calls} == {source.stat().st_size}
    assert done == sorted(done) and done[0] < done[-1] == source.stat().st_size


def test_what_has_been_read_is_taken_out_of_the_tree(tmp_path: Path) -> None:
    source = tmp_path / "facts.xml"
    source.write_text(document(*(instruction() for _ in range(50))))
    with source.open("rb") as stream:
        for element in importer._instructions(importer._CountedStream(stream)):
            parent = element.getparent()
            assert parent is not None and parent.index(element) <= 1
            previous = element.getprevious()
            assert previous is None or len(previous) == len(previous.attrib) == 0


def test_the_command_writes_the_tables_and_prints_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    source, target = tmp_path / "facts.xml", tmp_path / "tables.sqlite"
    source.write_text(document(ADD))
    assert run_import(source, target).records == 2
    assert target.is_file()
    assert capfd.readouterr() == ("", "")


def test_the_command_shows_its_progress_on_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    source = tmp_path / "facts.xml"
    source.write_text(document(ADD))
    run_import(source, tmp_path / "tables.sqlite")
    assert "Importing" in screen.getvalue()


X87 = Path(__file__).resolve().parents[2] / "data" / "x87.xml"
SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "facts" / "instructions.xml.xz"


NEEDS_SHARED = pytest.mark.skipif(
    not SHARED.is_file(), reason="the facts that the shipped tables are made from are not here"
)
PART = 10


@NEEDS_SHARED
def test_the_shipped_tables_hold_what_the_import_makes_of_a_tenth(tmp_path: Path) -> None:
    """With CYCLELENS_ALL_TABLES set the next test imports all, which takes half a minute."""
    part, target = tmp_path / "part.xml", tmp_path / "tables.sqlite"
    number, is_taken = 0, True
    with lzma.open(SHARED, "rt", encoding="utf-8") as whole, part.open("w", encoding="utf-8") as taken:
        for line in whole:
            if "<instruction " in line:
                number += 1
                is_taken = number % PART == 0
            if is_taken:
                taken.write(line)
            is_taken = is_taken or "</instruction>" in line
    summary = import_tables(part, target)
    assert summary.variants >= number // PART > 1_500
    with closing(open_store(target)) as found, closing(open_store()) as shipped:
        for form in found.forms():
            for core in found.microarchitectures():
                known = shipped.candidates(core, form)
                assert [facts.name for facts in found.candidates(core, form) if facts not in known] == []


@NEEDS_SHARED
@pytest.mark.skipif("CYCLELENS_ALL_TABLES" not in os.environ, reason="CYCLELENS_ALL_TABLES is not set")
def test_the_shipped_tables_are_what_the_import_makes(tmp_path: Path) -> None:
    published = tmp_path / "published.sqlite"
    summary = import_tables(SHARED, published)
    assert (summary.variants, summary.records) == (16_141, 202_920)
    with closing(open_store(published)) as store:
        summary = import_tables(X87, tmp_path / "tables.sqlite", base=store)
    assert (summary.variants, summary.records) == (16_202, 203_037)
    assert (tmp_path / "tables.sqlite").read_bytes() == Path(default_tables()).read_bytes()
