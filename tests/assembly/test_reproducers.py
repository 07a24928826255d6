"""Small texts that were once read otherwise than GNU as reads them: text and object have the same loops."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from corpora import by_loop, essence, object_loops, places_of
from cyclelens.analyzer.assembly.files.includes import Origin
from cyclelens.analyzer.assembly.frontend import assemble

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "findings" / "repro"

pytestmark = [
    pytest.mark.skipif(not FOLDER.is_dir(), reason=f"{FOLDER} is not here"),
    pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not on PATH"),
]


@pytest.mark.parametrize(
    "name",
    [
        *(f"q{number}.s" for number in range(1, 6)),
        *(f"r{number}.s" for number in (*range(1, 8), 9, 10)),
        "r8.S",
    ],
)
def test_the_loops_are_those_of_the_object(name: str, tmp_path: Path) -> None:
    file = FOLDER / name
    subprocess.run(["gcc", "-c", "-o", tmp_path / "p.o", file], check=True)
    found = assemble(file.read_text(), regions="loops", origin=Origin(str(file), (str(FOLDER),)))
    in_text, in_object = (
        sorted((str(essence(regions)), places_of(regions)) for regions in by_loop(loops))
        for loops in (found.regions, object_loops((tmp_path / "p.o").read_bytes()))
    )
    assert in_text == in_object != []
    assert found.problems == ()


def test_padding_within_loops_of_a_compiler_is_that_of_the_object(tmp_path: Path) -> None:
    file = FOLDER / "w2_partly_reduced.s"
    subprocess.run(["gcc", "-c", "-o", tmp_path / "p.o", file], check=True)
    subprocess.run(["objcopy", "-O", "binary", "-j", ".text", "p.o", "p.bin"], cwd=tmp_path, check=True)
    regions = assemble(file.read_text(), regions="loops").regions
    code = (tmp_path / "p.bin").read_bytes()
    assert len(regions) > 40
    assert all(b"".join(line.code for line in region.lines) in code for region in regions)
