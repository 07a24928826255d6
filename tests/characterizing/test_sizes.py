"""Widths and sizes of simulated cores, found as they would be found on hardware."""

import pytest
from cyclelens.analyzer.characterizing.machines import ALL_THE_SAME, RepeatedRun, SimulatedMachine
from cyclelens.analyzer.characterizing.sizes import known_size, sizes
from cyclelens.analyzer.cli.main import main
from cyclelens.analyzer.facts.store import open_store
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.options import ModelOptions
from testkit.stubs import StubMachine

CLOSE = 0.05


@pytest.mark.parametrize("name", ["SNB", "SKL", "SPR", "GNR", "ZEN2", "ZEN4", "ZEN5"])
def test_the_sizes_of_a_simulated_core_are_found_again(name):
    model = registry.get(name)
    found = {
        size.field: size.found
        for size in sizes(SimulatedMachine(model, open_store(), ModelOptions(resources=True)))
    }
    assert found["issue_width"] == model.issue_width
    expected = {field: known for field in found if (known := known_size(model, field)) is not None}
    assert {field: found[field] for field in expected} == pytest.approx(expected, rel=CLOSE)


def test_what_the_model_does_not_limit_is_not_compared():
    model = registry.get("ZEN4")
    known = {field: known_size(model, field) for field in ("load_buffer_size", "integer_registers")}
    assert known == {"load_buffer_size": None, "integer_registers": None}
    assert known_size(model, "reservation_station_size") == 4 * 24, "of integer arithmetic alone"


class Endless(StubMachine):
    """A machine without limits, which takes a cycle per hundred instructions."""

    def run(self, code, start=ALL_THE_SAME):
        return RepeatedRun(len(code) / 300)


def test_what_is_never_full_is_not_known():
    _, *others = sizes(Endless())
    assert {size.found for size in others} == {None}
    assert {size.problem for size in others} == {"nothing is full with up to 704 instructions"}


class Broken(StubMachine):
    """A machine that runs nothing."""

    def run(self, code, start=ALL_THE_SAME):
        return "the machine is busy"


def test_a_machine_that_runs_nothing_says_why():
    assert {size.problem for size in sizes(Broken())} == {"nothing can be run", "the machine is busy"}


def test_the_command_shows_them_beside_the_model(capsys):
    assert main(["characterize", "--core", "--machine", "sim:HSW"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["issue", "width", "4", "4"] in lines
    assert ["load", "buffer", "72", "72"] in lines
