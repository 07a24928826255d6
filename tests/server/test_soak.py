"""A short soak: ``benchmarks/soak.py`` runs it for an hour, and docs/reliability.md has the table of that."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import soak
from soaked_server import Shown

PROGRAM = Path(__file__).parents[2] / "benchmarks" / "soak.py"


@pytest.mark.skipif(sys.platform != "linux", reason="processes are found in Linux's /proc")
def test_under_failures_no_hint_is_lost_and_nothing_is_left() -> None:
    short = ("--minutes", "0.25", "--documents", "8", "--seed", "2", "--pause", "0.03", "--between", "0.5")
    done = subprocess.run([sys.executable, PROGRAM, *short], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "8 documents compared: " in done.stdout
    assert " 0 regions" not in done.stdout
    assert " 0 hints" not in done.stdout
    last = [line.split() for line in done.stdout.splitlines() if re.fullmatch(r"[\d. ]+", line)][-1]
    assert sum(map(int, last[-4:])) > 2, "troubles"


SHOWN = Shown((("dot", 0, "4.00 cycles/iter"),), ((3, "unknown", "What is this?"),), ((0, 5, "4.00"),))


@pytest.mark.parametrize(
    ("other", "found"),
    [
        (SHOWN, []),
        (None, ["a.s: no answer of the fresh server"]),
        (Shown(SHOWN.regions, SHOWN.problems, ()), ["a.s: hints: soaked [(0, 5, '4.00')], fresh []"]),
    ],
)
def test_a_lost_hint_is_found(other: Shown | None, found: list[str]) -> None:
    assert list(soak.compared({"a.s": SHOWN}, {"a.s": other})) == found


def test_memory_that_grows_is_found() -> None:
    def samples(*memory: float) -> list[soak.Sample]:
        return [soak.Sample(60.0 * at, each, 0, 0, 0, 0, 0, ()) for at, each in enumerate(memory)]

    assert not list(soak.grown(samples(50, 90, 100, 101, 102, 103)))
    assert list(soak.grown(samples(50, 90, 100, 101, 140, 150))) == [
        "the server's memory grew from 100 to 145 MiB"
    ]
