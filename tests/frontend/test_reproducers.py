"""Inputs that once were read wrongly or did harm."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from corpora import by_loop, essence, object_loops, places_of
from cyclelens.analyzer.cli.analyze import FORMATS
from cyclelens.analyzer.cli.main import main
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.frontend.files.includes import Origin
from cyclelens.analyzer.model.analysis_options import SourceOptions
from cyclelens.analyzer.model.choices import Assembler, Regions

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "findings" / "repro"

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason=f"{FOLDER} is not here")
needs_compiler = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not on PATH")
LOOPS = (
    *(f"q{number}.s" for number in range(1, 6)),
    *(f"r{number}.s" for number in (*range(1, 8), 9, 10)),
    "r8.S",
)
SWELLING = {"cexp.S": 41, "inc.S": 0}
"""With the line that is too much."""
ESCAPING = ("esc.s", "e2.s")
ELSEWHERE = {
    **dict.fromkeys(["m1.asm", "m2.asm", "m4.asm", "n40.asm", "g1.s"], "test_outside.py"),
    **dict.fromkeys(["kill.py", "client.py"], "../server/test_chaos.py"),
    "edits.py": "../server/test_positions.py",
}
"""The test that does what a reproducer does."""


@needs_compiler
@pytest.mark.parametrize("name", LOOPS)
def test_the_loops_are_those_of_the_object(name: str, tmp_path: Path) -> None:
    file = FOLDER / name
    subprocess.run(["gcc", "-c", "-o", tmp_path / "p.o", file], check=True)
    found = assemble(
        file.read_text(), SourceOptions(regions=Regions.LOOPS, origin=Origin(str(file), (str(FOLDER),)))
    )
    in_text, in_object = (
        sorted((str(essence(regions)), places_of(regions)) for regions in by_loop(loops))
        for loops in (found.regions, object_loops((tmp_path / "p.o").read_bytes()))
    )
    assert in_text == in_object != []
    assert found.problems == ()


@needs_compiler
def test_padding_within_loops_of_a_compiler_is_that_of_the_object(tmp_path: Path) -> None:
    file = FOLDER / "w2_partly_reduced.s"
    subprocess.run(["gcc", "-c", "-o", tmp_path / "p.o", file], check=True)
    subprocess.run(["objcopy", "-O", "binary", "-j", ".text", "p.o", "p.bin"], cwd=tmp_path, check=True)
    regions = assemble(file.read_text(), SourceOptions(regions=Regions.LOOPS)).regions
    code = (tmp_path / "p.bin").read_bytes()
    assert len(regions) > 40
    assert all(b"".join(line.code for line in region.lines) in code for region in regions)


@pytest.mark.skipif(shutil.which("nasm") is None, reason="NASM is not on PATH")
def test_a_message_has_nothing_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (FOLDER / "n11.asm").read_text().replace("PATH", "TOKEN")
    monkeypatch.setenv("TOKEN", "topsecret")
    result = assemble(text, SourceOptions(regions=Regions.LOOPS, assembler=Assembler.NASM))
    assert result.problems
    assert "topsecret" not in repr(result)


@needs_compiler
@pytest.mark.parametrize(("name", "line"), SWELLING.items())
def test_what_the_preprocessor_swells_is_cut_off_with_a_message_at_its_line(
    name: str, line: int, tmp_path: Path
) -> None:
    copy = tmp_path / name
    shutil.copy(FOLDER / name, copy)
    result = assemble(
        copy.read_text(), SourceOptions(regions=Regions.BOTH, origin=Origin(str(copy), (str(tmp_path),)))
    )
    assert [problem.line for problem in result.problems if problem.code == "not-preprocessed"] == [line]
    assert result.regions[0].name.startswith("r")


@pytest.mark.parametrize("name", ESCAPING)
@pytest.mark.parametrize("form", FORMATS)
def test_a_report_has_nothing_that_a_terminal_obeys(
    name: str, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["analyze", str(FOLDER / name), "--format", form])
    shown = capsys.readouterr()
    assert shown.out
    assert {one for one in shown.out + shown.err if not one.isprintable()} <= {"\n", "\t"}


def test_every_reproducer_is_tried() -> None:
    here = {*LOOPS, *SWELLING, *ESCAPING, "w2_partly_reduced.s", "n11.asm"}
    assert {file.name for file in FOLDER.iterdir()} == {*here, *ELSEWHERE}
    assert all((Path(__file__).parent / other).is_file() for other in ELSEWHERE.values())
