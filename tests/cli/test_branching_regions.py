"""``cyclelens analyze`` on regions that branch within themselves, with and without shares of their
branches."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cyclelens.analyzer.cli.main import main
from testkit.kernels import FORKING_LOOP

LOOP = f"# cyclelens-begin sum{{option}}\n{FORKING_LOOP}# cyclelens-end\n"
"""Two multiplications in a chain take 6 cycles; without them two branches and their compares take 2."""


def report(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], *options: str) -> str:
    path = tmp_path / "x.s"
    path.write_text(text)
    assert main(["analyze", str(path), "--arch", "SKL", "--alignment", "0", *options]) == 0
    return capsys.readouterr().out


def test_without_shares_both_figures_are_there_and_no_sum(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = report(LOOP.format(option=""), tmp_path, capsys)
    assert "6.00 cycles/iter on SKL" in shown
    assert "js .Lskip never jumps; if it always does: 2.00 cycles/iter." in shown
    assert "on average" not in shown
    once = report(LOOP.format(option=""), tmp_path, capsys, "--mode", "once")
    assert "19.00 cycles on SKL (Skylake), one pass" in once
    assert "js .Lskip never jumps; if it always does: 15.00 cycles." in once


@pytest.mark.parametrize("share", ["0.9", "90%", ".Lskip:0.9", "5:0.9"])
@pytest.mark.parametrize("where", ["marker", "option", "option for the region"])
def test_shares_give_the_likelier_way_and_the_weighted_sum(
    share: str, where: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = LOOP.format(option=f" taken={share}" if where == "marker" else "")
    name = "sum=" if where == "option for the region" else ""
    options = [] if where == "marker" else ["--taken", f"{name}{share}"]
    shown = report(text, tmp_path, capsys, *options)
    assert "2.00 cycles/iter on SKL" in shown  # nine of ten times it jumps
    assert f"on average with taken={share}" in shown
    average = json.loads(report(text, tmp_path, capsys, *options, "--format", "json"))
    (assumed,) = [
        assumption["message"]
        for assumption in average["regions"][0]["predictions"][0]["assumptions"]
        if assumption["code"] == "inner-branch"
    ]
    # 0.9 * 2.00 + 0.1 * 6.00
    assert "on average 2.40" in assumed


@pytest.mark.parametrize(("share", "average"), [("0", "6.00"), ("0.5", "4.00"), ("1", "2.00")])
def test_the_sum_moves_from_one_way_to_the_other(
    share: str, average: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = report(LOOP.format(option=""), tmp_path, capsys, "--taken", share)
    assert f"on average {average} with taken={share}" in " ".join(shown.split())


def test_the_option_wins_over_the_marker(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = report(LOOP.format(option=" taken=0.9"), tmp_path, capsys, "--taken", "0.5")
    assert "on average 4.00 with taken=0.5" in " ".join(shown.split())


def test_a_loop_that_was_found_has_the_same_ways(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "\n".join(line for line in LOOP.splitlines() if not line.startswith("#")) + "\n"
    shown = report(text, tmp_path, capsys, "--regions", "loops", "--taken", "0.9")
    assert "on average 2.40 with taken=0.9" in " ".join(shown.split())


@pytest.mark.parametrize(
    ("taken", "message"),
    [
        ("total=0.9", "there is no region 'total' with a branch within it; known are sum"),
        ("smu=0.9", "there is no region 'smu' with a branch within it; did you mean 'sum'?"),
        ("0.1,0.9", "taken=0.1,0.9 has 2 shares for 1: js .Lskip (line 5)"),
        (".Lnext:0.9", "'.Lnext:0.9' is not PLACE:SHARE for one of its branches: js .Lskip (line 5)"),
    ],
)
def test_shares_that_say_nothing_are_reported(
    taken: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.s"
    path.write_text(LOOP.format(option=""))
    assert main(["analyze", str(path), "--taken", taken]) == 1
    shown = capsys.readouterr()
    assert message in " ".join((shown.out + shown.err).split())


def test_shares_for_a_text_without_branches_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.s"
    path.write_text("1: dec %rax\n jnz 1b\n")
    assert main(["analyze", str(path), "--arch", "SKL", "--taken", "0.5"]) == 1
    out = capsys.readouterr().out
    assert "warning: taken= has no effect: no region has a branch with two paths" in out
    assert "cycles/iter" in out
