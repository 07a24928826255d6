"""Variants that fault, hang or take very long: the characterization continues with the next one."""

import pytest
from cyclelens.analyzer.characterizing import machines
from cyclelens.analyzer.characterizing.characterize import Characterizer
from cyclelens.analyzer.characterizing.machines import (
    ALL_THE_SAME,
    MeasuredMachine,
    RepeatedRun,
    SimulatedMachine,
)
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.measuring.harness import CannotMeasure, Harness
from cyclelens.analyzer.measuring.requests import BUSY
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.choices import Pages
from msgspec.structs import replace


class Faulting:
    """A machine on which one instruction has a problem."""

    def __init__(self, machine, mnemonic, problem):
        self._machine, self._mnemonic, self._problem = machine, mnemonic, problem

    def run(self, code, start=ALL_THE_SAME):
        if any(each.mnemonic == self._mnemonic for each in decode(code)):
            return self._problem
        return self._machine.run(code, start)

    def straight(self, code):
        return self._machine.straight(code)


def test_a_variant_that_faults_is_a_row_that_says_so(store):
    model, problem = registry.get("SKL"), "the code raises an exception"
    wanted = [
        store.candidates("SKL", form)[0] for form in ("ADD_GPRv_GPRv_01", "DIV_GPRv", "SUB_GPRv_GPRv_29")
    ]
    characterizer = Characterizer(Faulting(SimulatedMachine(model, store), "div", problem), store, model)
    rows = [characterizer.row(facts) for facts in wanted]
    assert [row.problem for row in rows] == ["", problem, ""]


class Trapping:
    """A machine, such as a virtual one, that stops at one instruction for 5,000 cycles."""

    def __init__(self, machine, mnemonic):
        self._machine, self._mnemonic, self.asked = machine, mnemonic, 0

    def run(self, code, start=ALL_THE_SAME):
        stops = sum(each.mnemonic == self._mnemonic for each in decode(code))
        self.asked += bool(stops)
        run = self._machine.run(code, start)
        return replace(run, cycles=run.cycles + 5000 * stops)

    def straight(self, code):
        return self._machine.straight(code)


def test_of_what_takes_very_long_only_throughput_is_measured(store):
    """On hardware each of these codes takes seconds."""
    model = registry.get("SKL")
    machine = Trapping(SimulatedMachine(model, store), "cpuid")
    row = Characterizer(machine, store, model).row(store.candidates("SKL", "CPUID")[0])
    assert row.cycles is not None
    assert row.cycles > 5000
    assert (row.latencies, row.ports) == ({}, None)
    assert "only throughput" in row.ports_problem
    assert machine.asked == 1


def test_code_that_hangs_or_faults_on_hardware_does_not_end_the_run(monkeypatch):
    """What comes next is measured as if nothing had been."""
    monkeypatch.setattr(machines, "_PATIENCE", 0.0)
    try:
        with Harness(pages=Pages.SHARED) as harness:
            machine = MeasuredMachine(harness)
            endless, undefined, add = (bytes.fromhex(code) for code in ("ebfe", "0f0b", "4801d8"))
            assert machine.straight(endless) == "the code does not end within the time limit"
            assert machine.run(undefined) == "the code raises an exception"
            after = machine.run(add)
            assert after == BUSY or isinstance(after, RepeatedRun)
    except CannotMeasure as error:
        pytest.skip(f"nothing can be measured here: {error}")
