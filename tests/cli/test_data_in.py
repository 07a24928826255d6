"""``--data-in`` and ``--working-set``: the figure of a level on the command line, and budgets for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cyclelens.analyzer.cli.main import main
from testkit.kernels import COPY_LOOP

COPY = f"# cyclelens-begin copy arch=ZEN4\n{COPY_LOOP}# cyclelens-end\n"


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "copy.s"
    path.write_text(COPY)
    return str(path)


@pytest.mark.parametrize("option", [("--data-in", "L3"), ("--data-in", "2MiB"), ("--working-set", "2MiB")])
def test_the_headline_is_that_of_the_level(
    file: str, option: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["analyze", file, *option]) == 0
    assert "2.45 cycles/iter (data in L3; 1.00 in L1) on ZEN4" in capsys.readouterr().out


def test_a_budget_is_for_the_figure_of_the_level(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    limit = ["--max-cycles", "copy=2.0"]
    assert main(["check", file, *limit]) == 0
    assert main(["check", file, "--data-in", "L3", *limit]) == 3
    assert "SLOW" in capsys.readouterr().out
    assert main(["check", file, "--data-in", "L3", "--max-cycles", "copy=2.5"]) == 0


def test_a_baseline_is_that_of_the_level(
    file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["analyze", file, "--data-in", "L3", "--format", "json"]) == 0
    baseline = tmp_path / "before.json"
    baseline.write_text(capsys.readouterr().out)
    (prediction,) = json.loads(baseline.read_text())["regions"][0]["predictions"]
    assert prediction["data"]["chosen"] == {"where": "data in L3", "cycles_per_iteration": 2.45}
    assert main(["check", file, "--data-in", "L3", "--baseline", str(baseline)]) == 0
    assert main(["check", file, "--data-in", "memory", "--baseline", str(baseline)]) == 3


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (("--data-in", "L9"), "use a level (L1, L2, L3, memory)"),
        (("--working-set", "L2"), "'L2' is not the size of a working set"),
    ],
)
def test_a_wrong_value_is_one_message(
    file: str, option: tuple[str, str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["analyze", file, *option]) == 2
    shown = capsys.readouterr().err
    assert said in shown
    assert shown.count("error:") == 1
