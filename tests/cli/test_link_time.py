"""Objects of compilers that optimize at link time have no machine code, and say so."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from cyclelens.analyzer.cli import main as cli


@pytest.mark.parametrize("options", [(), ("--function", "f")])
def test_an_object_for_link_time_optimization_has_no_code_yet(
    options: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    (tmp_path / "t.c").write_text("long f(long n) { return n + 1; }\n")
    command = ["gcc", "-O2", "-flto", "-fno-fat-lto-objects", "-c", "-o", "t.o", "t.c"]
    subprocess.run(command, cwd=tmp_path, check=True)
    assert cli.main(["analyze", str(tmp_path / "t.o"), *options]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "this is an object of -flto, which has no machine code yet: compile without -flto" in error
