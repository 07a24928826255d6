"""``cyclelens analyze --regions``: loops without markers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cyclelens.analyzer.cli.main import main

TEXT = "f: xor %eax, %eax\n1: add %rax, %rbx\ndec %rcx\njnz 1b\n# cyclelens-begin k\nnop\n# cyclelens-end\n"


@pytest.mark.parametrize(
    ("wanted", "names"),
    [("auto", ["k"]), ("markers", ["k"]), ("loops", ["loop-2"]), ("both", ["loop-2", "k"])],
)
def test_regions_are_chosen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], wanted: str, names: list[str]
) -> None:
    path = tmp_path / "x.s"
    path.write_text(TEXT)
    assert main(["analyze", str(path), "--regions", wanted, "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [region["name"] for region in report["regions"]] == names


def test_a_file_without_markers_has_the_figures_of_its_innermost_loops(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.s"
    path.write_text("f: xor %eax, %eax\n1: imul %rax, %rbx\ndec %rcx\njnz 1b\ndec %rdx\njnz f\nret\n")
    assert main(["analyze", str(path), "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    (region,) = report["regions"]
    assert region["name"] == "loop-2"
    assert region["predictions"][0]["cycles_per_iteration"] == 3.0
    assert report["problems"] == []


def test_the_blocks_of_a_region_are_chosen_by_its_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.s"
    path.write_text("# cyclelens-begin a\nnop\n1: dec %eax\njnz 1b\n# cyclelens-end\n" + TEXT)
    assert main(["analyze", str(path), "--region", "a", "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [region["name"] for region in report["regions"]] == ["a.1", "a.2"]


def test_without_external_programs_avx512_has_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    path = tmp_path / "x.s"
    path.write_text(
        "1: vaddps %zmm0, %zmm1, %zmm1{%k1}{z}\nvpternlogd $3, (%rdi), %zmm2, %zmm3\ndec %rcx\njnz 1b\n"
    )
    assert main(["analyze", str(path), "--no-external-programs", "--arch", "SKX", "--format", "json"]) == 0
    (region,) = json.loads(capsys.readouterr().out)["regions"]
    (prediction,) = region["predictions"]
    assert prediction["cycles_per_iteration"] == 4.0
    assert [row["encoded_by"] for row in prediction["rows"]] == [
        "iced-x86",
        "iced-x86",
        "keystone",
        "cyclelens",
    ]


def test_the_report_names_the_encoder_of_an_instruction(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.s"
    path.write_text("# cyclelens-begin\nadd %rax, %rbx\nnop\n# cyclelens-end\n")
    assert main(["analyze", str(path), "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["regions"][0]["predictions"][0]["rows"]
    assert [row["encoded_by"] for row in rows] == ["keystone", "cyclelens"]
