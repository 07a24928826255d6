"""The cost of a misprediction, found on a machine whose cost is known."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.characterizing import mispredictions
from cyclelens.analyzer.characterizing.machines import ALL_THE_SAME, RepeatedRun, Start
from cyclelens.analyzer.cli.main import main
from cyclelens.analyzer.isa.decoder import decode
from testkit.stubs import StubMachine

STAMP, STEP = 50.0, 6.0
"""Cycles for the time stamp where mispredictions expose it, and for a number."""


class Guessing(StubMachine):
    """It mispredicts the less likely outcome, at this cost."""

    def __init__(self, cost: float) -> None:
        self.cost = cost

    def run(self, code: bytes, start: Start = ALL_THE_SAME) -> RepeatedRun | str:
        compares = [each for each in decode(code) if each.mnemonic == "cmp"]
        limit = int.from_bytes(compares[0].code[-4:], "little") / (1 << 32)
        wrong = min(limit, 1 - limit)
        return RepeatedRun(STAMP * (wrong > 0.001) + len(compares) * (STEP + wrong * self.cost))


def test_the_cost_is_found_without_that_of_the_time_stamp() -> None:
    assert mispredictions.penalty(Guessing(17.0)) == mispredictions.Penalty(17.0)
    assert mispredictions.cycles(Guessing(20.0), 0.25) == pytest.approx(STEP + 5)


def test_where_nothing_is_mispredicted_there_is_no_cost() -> None:
    assert mispredictions.penalty(Guessing(0.0)).problem == "no branch is mispredicted here"


class Busy(StubMachine):
    """It runs nothing."""

    def run(self, code: bytes, start: Start = ALL_THE_SAME) -> RepeatedRun | str:
        return "the machine is busy"


def test_a_busy_machine_says_so() -> None:
    assert mispredictions.penalty(Busy()) == mispredictions.Penalty(None, "the machine is busy")


def test_the_command_shows_the_cost_beside_the_models(capsys: pytest.CaptureFixture[str]) -> None:
    """A simulated core predicts everything."""
    assert main(["characterize", "--core", "--machine", "sim:SKL"]) == 0
    (line,) = (each for each in capsys.readouterr().out.splitlines() if each.startswith("misprediction"))
    assert line.split() == ["misprediction,", "cycles", "16.5", "no", "branch", "is", "mispredicted", "here"]
