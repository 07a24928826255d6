"""Finished runs are saved, and an interrupted characterization resumes."""

from cyclelens.analyzer.characterizing.machines import (
    ALL_THE_SAME,
    RememberedMachine,
    RepeatedRun,
)
from cyclelens.analyzer.measuring.requests import BUSY
from testkit.stubs import StubMachine


def test_an_ended_run_goes_on_where_it_was(tmp_path):
    """What was run is in the file, up to a line that was cut off; only the rest is run again."""
    asked = []

    class Counting(StubMachine):
        def run(self, code, start=ALL_THE_SAME):
            asked.append(code)
            return "busy" if code == b"\x92" else RepeatedRun(len(code), 1.0, {"0": 1.0})

    file = tmp_path / "table.xml.runs"
    first = RememberedMachine(Counting(), file)
    codes = (b"\x90", b"\x91\x91", b"\x92")
    answers = [first.run(code) for code in codes]
    first.close()
    with file.open("a") as stream:
        stream.write('["9393", [2')
    second = RememberedMachine(Counting(), file)
    assert [second.run(code) for code in codes] == answers
    assert asked == list(codes)
    second.run(b"\x93\x93")
    second.close()
    assert asked[3:] == [b"\x93\x93"]


def test_what_a_loop_took_is_not_taken_for_straight_line_code(tmp_path):
    file = tmp_path / "table.xml.runs"
    for _ in range(2):
        machine = RememberedMachine(Fixed(), file)
        assert machine.run(b"\x90") == RepeatedRun(1.0, 1.0, {"0": 1.0}, 1.0)
        assert machine.straight(b"\x90") == RepeatedRun(2.0)
        machine.close()
    assert len(file.read_text().splitlines()) == 2


class Fixed:
    """A machine that says the same of all code."""

    def run(self, code, start=ALL_THE_SAME):
        return RepeatedRun(1.0, 1.0, {"0": 1.0}, 1.0)

    def straight(self, code):
        return RepeatedRun(2.0)


def test_figures_that_a_busy_machine_left_open_are_measured_again(tmp_path):
    asked = []

    class Busy(StubMachine):
        def run(self, code, start=ALL_THE_SAME):
            asked.append(code)
            return BUSY

    for _ in range(2):
        machine = RememberedMachine(Busy(), tmp_path / "table.xml.runs")
        assert machine.run(b"\x90") == machine.run(b"\x90") == BUSY
        machine.close()
    assert asked == [b"\x90", b"\x90"]
