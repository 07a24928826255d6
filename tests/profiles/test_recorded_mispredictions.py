"""Branch records say which taken branches were mispredicted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cyclelens.analyzer.cli.main import main
from cyclelens.analyzer.common.recent import Caches
from cyclelens.analyzer.insight import mispredictions
from cyclelens.analyzer.insight.mispredictions import ConditionalJumps
from cyclelens.analyzer.model.source import Counts, JumpPlace
from cyclelens.analyzer.profiles.cache import Profiles
from cyclelens.analyzer.profiles.profile import CodeLocation

LOOP = "    .globl f\nf:\n    imul %rax, %rax\n    dec %rcx\n    jnz f\n    ret\n"
"""3.00 cycles on SKL; the jump is seven bytes behind f."""


def recorded(tmp_path: Path, outcomes: str) -> Path:
    path = tmp_path / "branches.txt"
    path.write_text(" ".join(f"f+0x7/f+0x0/{outcome}/-/-/3" for outcome in outcomes) + "\n")
    return path


def test_outcomes_are_counted_by_branch(tmp_path: Path) -> None:
    profile = Profiles(Caches()).of(str(recorded(tmp_path, "MPPM-P")))
    assert profile.outcomes == {CodeLocation("f", 7, None): (2, 3)}


@pytest.mark.parametrize(
    ("outcomes", "options", "expected"),
    [
        ("MPPPPPPPPM", [], "at least 6.30 cycles/iter (3.00 + 0.20 × 16.5) on SKL"),
        ("PPPPPPPPPP", [], "3.00 cycles/iter on SKL"),
        ("----------", [], "3.00 cycles/iter on SKL"),
        ("MPPPPPPPPM", ["--mispredicted", "0.1"], " 4.65 cycles/iter (3.00 + 0.10 × 16.5) on SKL"),
    ],
)
def test_a_loop_with_mispredicted_jumps_takes_at_least_their_sum(
    outcomes: str, options: list[str], expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "k.s").write_text(LOOP)
    profile = recorded(tmp_path, outcomes)
    command = [
        "analyze",
        str(tmp_path / "k.s"),
        "--arch",
        "SKL",
        "--alignment",
        "0",
        "--profile",
        str(profile),
    ]
    assert main([*command, *options]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert expected in shown
    assert ("The profile records taken branches only" in shown) == (expected.startswith("at least"))


def test_a_jump_that_falls_through_counts_among_the_executions() -> None:
    """A quarter of the executions jump, and half of those were mispredicted."""
    jumps = ConditionalJumps("k", (JumpPlace(1, "jz a"), JumpPlace(2, "jnz k")), (0, 1), (0,))
    counts = {"k.1": Counts(100, 25, 75, 0, None, mispredicted=12.5), "k.2": Counts(100, 99, 1, 0, None)}
    found = mispredictions.recorded(jumps, ("k.1", "k.2"), counts)
    assert found is not None and (found.shares, found.least) == ((0.125, 0.0), True)
    assert mispredictions.recorded(jumps, ("k.1", "k.2"), {}) is None


def test_of_several_jumps_of_a_loop_the_records_tell_of_the_last_one() -> None:
    jumps = ConditionalJumps("k", (JumpPlace(1, "jz out"), JumpPlace(2, "jnz k")), (0, 0))
    found = mispredictions.recorded(jumps, ("k",), {"k": Counts(10, 10, 0, 0, None, mispredicted=1)})
    assert found is not None and found.shares == (0.0, 0.1)


def test_mispredicted_branches_are_part_of_the_weight_of_a_loop(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both loops have the same iterations; every jump of the first one was mispredicted."""
    (tmp_path / "k.s").write_text(LOOP + LOOP.replace("f\n", "g\n").replace("f:", "g:"))
    stacks = (" ".join([f"{name}+0x7/{name}+0x0/{how}/-/-/3"] * 10) for name, how in ("fM", "gP"))
    (tmp_path / "branches.txt").write_text("".join(f"{stack}\n" for stack in stacks))
    words = ["--arch", "SKL", "--alignment", "0", "--profile", str(tmp_path / "branches.txt")]
    assert main(["analyze", str(tmp_path / "k.s"), *words, "--format", "json"]) == 0
    first, second = (each["weight"] for each in json.loads(capsys.readouterr().out)["regions"])
    assert first["iterations"] == second["iterations"]
    assert first["share"] == pytest.approx((3 + 16.5) / (3 + 16.5 + 3), abs=0.001)
