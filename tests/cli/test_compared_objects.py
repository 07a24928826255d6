"""``cyclelens compare`` with an object, and what ``rewrite`` says of one."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from cyclelens.analyzer.cli import main as cli

TEXT = ".globl f\nf:\n1: add (%rdi), %rax\n add $8, %rdi\n dec %rsi\n jnz 1b\n ret\n"
TEXT += ".globl g\ng:\n2: imul %rax, %rax\n dec %rsi\n jnz 2b\n ret\n"


@pytest.fixture
def built(tmp_path: Path) -> str:
    """An object of two functions."""
    if shutil.which("as") is None:
        pytest.skip("GNU as is not installed")
    (tmp_path / "k.s").write_text(TEXT)
    subprocess.run(["as", "--64", "-o", "k.o", "k.s"], cwd=tmp_path, check=True)
    return str(tmp_path / "k.o")


def test_compare_takes_objects(built: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The figures are those of ``analyze``."""
    arguments = [built, "--arch", "SKL,HSW", "--format", "json"]
    assert cli.main(["compare", *arguments]) == 0
    tables = json.loads(capsys.readouterr().out)
    assert cli.main(["analyze", *arguments]) == 0
    regions = json.loads(capsys.readouterr().out)["regions"]
    assert [region["name"] for region in regions] == ["f.loop-1", "g.loop-1"]
    for table, region in zip(tables, regions, strict=True):
        expected = {each["microarchitecture"]: each["cycles_per_iteration"] for each in region["predictions"]}
        figures = table["columns"].index("cycles/iter")
        assert {row[0]: row[figures] for row in table["rows"]} == expected
        assert region["name"] in table["title"]


def test_every_comparison_takes_objects_but_that_of_versions(
    built: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["compare", built, "--function", "g", "--alignments", "--arch", "SKL"]) == 0
    assert "g.loop-1" in capsys.readouterr().out
    assert cli.main(["compare", built, "--region", "f.loop-1", "--with", "g.loop-1", "--arch", "SKL"]) == 0
    assert cli.main(["compare", built, "--with", "nothing"]) == 1
    assert "there is no region 'nothing'" in capsys.readouterr().err
    assert cli.main(["compare", built, "--git"]) == 1
    assert "--git compares versions of texts" in capsys.readouterr().err


def test_two_files_are_compared_region_by_region(
    built: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    faster = tmp_path / "faster.s"
    faster.write_text(TEXT.replace("imul %rax, %rax", "add %rax, %rax"))
    both = [built, str(faster)]
    names = ["--region", "g.loop-1", "--with", "loop-10"]
    assert cli.main(["compare", *both, *names, "--arch", "SKL", "--format", "json"]) == 0
    (table,) = json.loads(capsys.readouterr().out)
    assert table["columns"][:4] == ["CPU", "k.o", "faster.s", "faster.s: difference"]
    assert table["rows"][0][:4] == ["SKL", 3.0, 1.0, "3.0x"]

    # Names in one file alone are said, and the file that lacks them is named.
    assert cli.main(["compare", built, "--arch", "SKL", str(faster)]) == 1
    shown = capsys.readouterr().out
    assert "There is no region 'f.loop-1' in faster.s." in shown
    assert "There is no region 'loop-10' in k.o." in shown

    assert cli.main(["compare", built, built, "--function", "g", "--arch", "SKL"]) == 0
    assert "same" in capsys.readouterr().out
    assert cli.main(["compare", *both, "--tools"]) == 1
    assert "two files are compared with each other" in capsys.readouterr().err
    assert cli.main(["compare", *both, "--git", "HEAD"]) == 1
    assert "leave out --alignments, --tools and --git" in capsys.readouterr().err
    assert cli.main(["compare", built, str(tmp_path / "none.o")]) == 1
    assert "none.o cannot be read" in capsys.readouterr().err


def test_rewrite_says_that_it_changes_texts(built: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["rewrite", built]) == 1
    assert "is machine code: this command changes texts" in capsys.readouterr().err
    for command, promised in (("compare", True), ("rewrite", False)):
        cli.main([command, "--help"])
        assert ("ELF" in capsys.readouterr().out) is promised


def test_compare_and_rewrite_take_a_function_of_a_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "k.s"
    path.write_text(TEXT)
    assert cli.main(["compare", str(path), "--function", "g", "--arch", "SKL,HSW", "--format", "json"]) == 0
    (table,) = json.loads(capsys.readouterr().out)
    assert "loop-10" in table["title"]
    assert cli.main(["rewrite", str(path), "--function", "h"]) == 1
    assert "there is no function 'h'; known are f, g" in capsys.readouterr().err
