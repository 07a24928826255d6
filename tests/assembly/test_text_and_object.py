"""The loops of programs by chance: the same in the text and in the object that GNU as makes of it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from corpora import by_loop, essence, object_loops, places_of
from cyclelens.analyzer.assembly.frontend import assemble
from random_programs import program

PROGRAMS = 150

pytestmark = pytest.mark.skipif(shutil.which("as") is None, reason="GNU as is not on PATH")


@pytest.mark.parametrize("first", range(0, PROGRAMS, 50))
def test_text_and_object_have_the_same_loops_at_the_same_places(first: int, tmp_path: Path) -> None:
    found = 0
    for seed in range(first, first + 50):
        text = program(seed)
        (tmp_path / "p.s").write_text(text)
        subprocess.run(["as", "-o", "p.o", "p.s"], cwd=tmp_path, check=True)
        in_object = by_loop(object_loops((tmp_path / "p.o").read_bytes()))
        in_text = by_loop(assemble(text, regions="loops").regions)
        described = [
            sorted((str(essence(regions)), places_of(regions)) for regions in loops)
            for loops in (in_text, in_object)
        ]
        assert described[0] == described[1], f"program({seed}):\n{text}"
        found += len(in_text)
    assert found > 50
