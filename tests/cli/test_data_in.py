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


@pytest.mark.parametrize(("core", "place"), [("GNR", "L3"), ("SKL", "memory")])
def test_without_figures_for_the_level_nothing_passes(
    file: str, core: str, place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The figure of L1 is a lower bound of what the user asked for."""
    chosen = [file, "--arch", core, "--data-in", place]
    assert main(["analyze", *chosen]) == 0
    assert f"at least 1.00 cycles/iter on {core}" in capsys.readouterr().out
    assert main(["check", *chosen, "--max-cycles", "copy=2.0"]) == 1
    assert f"no figure with data in {place} on {core}: --allow-incomplete" in capsys.readouterr().out
    assert main(["check", *chosen, "--max-cycles", "copy=2.0", "--allow-incomplete"]) == 0
    assert main(["check", *chosen, "--max-cycles", "copy=0.5", "--allow-incomplete"]) == 3
    capsys.readouterr()
    assert main(["analyze", *chosen, "--format", "json"]) == 0
    (tmp_path / "before.json").write_text(capsys.readouterr().out)
    assert main(["check", *chosen, "--baseline", str(tmp_path / "before.json")]) == 1
    assert "the baseline has only a lower bound" in capsys.readouterr().out


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


def test_two_places_of_the_data_are_refused(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyze", file, "--data-in", "L2", "--working-set", "2MiB"]) == 2
    assert "argument --working-set: not allowed with argument --data-in" in capsys.readouterr().err
