"""Mispredicted branches in every view: reports, JSON, the library, budgets, agents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import cyclelens
import jsonschema
import pytest
from cyclelens.analyzer.agents.tools import Tools
from cyclelens.analyzer.cli.main import main

ROOT = Path(__file__).parents[2]
KERNEL = "# cyclelens-begin k{}\n.Lx:\n    imul %rax, %rax\n    dec %rcx\n    jnz .Lx\n# cyclelens-end\n"
"""3.00 cycles on SKL, where a misprediction costs 16.5."""
SUM = "4.65 cycles/iter (3.00 + 0.10 × 16.5)"


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    path = tmp_path / "k.s"
    path.write_text(KERNEL.format(" mispredicted=0.1"))
    return path


def shown(capsys: pytest.CaptureFixture[str], *arguments: str | Path, code: int = 0) -> str:
    assert main([str(each) for each in arguments]) == code
    return capsys.readouterr().out


def test_the_report_lists_the_parts_and_the_source(kernel: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = " ".join(shown(capsys, "analyze", kernel, "--arch", "SKL").split())
    assert f"{SUM} on SKL" in text
    assert "Branches: 4.65 = 3.00 + 0.10 × 16.5 with mispredicted=0.1" in text
    assert "A misprediction costs SKL about 16.5 cycles (published: 7-cpu, Agner Fog)." in text


@pytest.mark.parametrize("view", ["markdown", "html", "sarif"])
def test_every_format_has_the_sum(view: str, kernel: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, "analyze", kernel, "--arch", "SKL", "--format", view)
    assert "4.65" in text and "3.00 + 0.10" in text


def test_the_option_wins_and_paths_have_a_row(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "f.s"
    path.write_text(
        "# cyclelens-begin f taken=0.5 mispredicted=0.3\n.Lx:\n    test %rax, %rax\n    js .Ls\n"
        "    imul %rdx, %rdx\n.Ls:\n    dec %rcx\n    jnz .Lx\n# cyclelens-end\n"
    )
    text = shown(capsys, "analyze", path, "--arch", "SKL,ARL", "--mispredicted", "f=0.1")
    (row,) = (line for line in text.splitlines() if "With mispredicted" in line)
    assert row.split()[:2] == ["With", "mispredicted=0.1"]
    assert "+ 0.10 × 16.5; at least on ARL" in row


def test_json_fits_its_schema_and_the_library_reads_it(
    kernel: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report: dict[str, Any] = json.loads(shown(capsys, "analyze", kernel, "--arch", "SKL", "--format", "json"))
    jsonschema.validate(report, json.loads((ROOT / "docs/schema/report-2.schema.json").read_text()))
    prediction = report["regions"][0]["predictions"][0]
    assert prediction["cycles_per_iteration"] == 3.0
    found = prediction["mispredictions"]
    assert found["cycles_per_iteration"] == found["base"] + found["per_iteration"] * found["penalty"]
    assert [(each["line"], each["mispredicted"], each["executions"]) for each in found["branches"]] == [
        (5, 0.1, 1.0)
    ]
    for mispredicted in ("0.1", {"k": "0.1"}):
        (region,) = cyclelens.analyze(KERNEL.format(""), arch="SKL", mispredicted=mispredicted).regions
        sums = region.predictions[0].mispredictions
        assert sums is not None and sums.cycles_per_iteration == pytest.approx(4.65)
    assert cyclelens.analyze(KERNEL.format(""), arch="SKL").regions[0].predictions[0].mispredictions is None


def test_a_budget_and_a_baseline_are_about_the_sum(
    kernel: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("check", kernel, "--arch", "SKL", "--max-cycles")
    assert SUM in shown(capsys, *options, "k=4.7")
    assert "SLOW" in shown(capsys, *options, "k=4.6", code=3)
    baseline = tmp_path / "base.json"
    baseline.write_text(shown(capsys, "analyze", kernel, "--arch", "SKL", "--format", "json"))
    assert "baseline 4.65" in shown(capsys, "check", kernel, "--arch", "SKL", "--baseline", baseline)


def test_a_budget_needs_a_known_penalty(kernel: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, "check", kernel, "--arch", "ARL", "--max-cycles", "k=9", code=1)
    assert "LACK" in text and "the cycles that a misprediction costs on ARL are not known" in text
    assert "ok  " in shown(
        capsys, "check", kernel, "--arch", "ARL", "--max-cycles", "k=9", "--allow-incomplete"
    )


def test_an_agent_reads_the_sum() -> None:
    answer = Tools().analyze(KERNEL.format(" mispredicted=0.1"), core="SKL")
    assert SUM in answer
    assert "branches: 4.65 = 3.00 + 0.10 × 16.5 with mispredicted=0.1" in answer
