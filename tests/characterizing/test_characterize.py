"""The algorithms against the simulator of a core, whose tables are the truth."""

import random

import pytest
from cyclelens.analyzer.assembly.decoder import decode
from cyclelens.analyzer.assembly.encoder import encodings
from cyclelens.analyzer.characterizing.characterize import characterize
from cyclelens.analyzer.characterizing.comparison import Comparison, table_ports
from cyclelens.analyzer.characterizing.instances import family
from cyclelens.analyzer.characterizing.machines import Run, SimulatedMachine
from cyclelens.analyzer.characterizing.ports import pool
from cyclelens.analyzer.cli import main
from cyclelens.analyzer.facts.store import open_store
from cyclelens.analyzer.microarchitectures import registry

VARIANTS = 120
LATENCIES, PORTS, UOPS = 0.97, 0.96, 0.98
NOISE, LATENCIES_WITH_NOISE = 0.02, 0.95


@pytest.fixture(scope="module")
def store():
    return open_store()


def some(store, name):
    """Variants without memory, by chance but always the same."""
    every = [
        facts
        for form in store.forms()
        for facts in store.candidates(name, form)
        if not any(operand.kind in ("mem", "agen") for operand in facts.operands)
    ]
    return random.Random(7).sample(every, VARIANTS)


def share(score):
    return score.equal / (score.equal + score.different)


class Noisy:
    """A machine whose clock is off by some percent."""

    def __init__(self, machine):
        self._machine, self._random = machine, random.Random(3)

    def run(self, code):
        run = self._machine.run(code)
        if isinstance(run, str):
            return run
        return Run(run.cycles * (1 + self._random.uniform(-NOISE, NOISE)), run.uops, run.units)


@pytest.mark.parametrize("name", ["HSW", "SKL", "ICL"])
def test_the_tables_of_a_simulated_core_are_found_again(store, name):
    model = registry.get(name)
    comparison = Comparison(model)
    machine, wanted = SimulatedMachine(model, store), some(store, model.facts_name)
    for row in characterize(machine, store, model.facts_name, wanted, pool(store, model.facts_name)):
        comparison.add(row)
    assert comparison.latencies.equal + comparison.latencies.different > VARIANTS / 2
    assert share(comparison.latencies) >= LATENCIES, comparison.differences
    assert share(comparison.uops) >= UOPS, comparison.differences
    assert share(comparison.ports) >= PORTS, comparison.differences


def test_latencies_are_found_with_a_clock_that_is_off(store):
    model = registry.get("SKL")
    comparison = Comparison(model)
    machine = Noisy(SimulatedMachine(model, store))
    for row in characterize(machine, store, model.facts_name, some(store, "SKL")):
        comparison.add(row)
    assert share(comparison.latencies) >= LATENCIES_WITH_NOISE, comparison.differences


class Faulting:
    """A machine on which one instruction faults."""

    def __init__(self, machine, mnemonic):
        self._machine, self._mnemonic = machine, mnemonic

    def run(self, code):
        if any(each.mnemonic == self._mnemonic for each in decode(code)):
            return "the code raises an exception"
        return self._machine.run(code)


def test_a_variant_that_faults_is_a_row_that_says_so(store):
    model = registry.get("SKL")
    wanted = [
        store.candidates("SKL", form)[0] for form in ("ADD_GPRv_GPRv_01", "DIV_GPRv", "SUB_GPRv_GPRv_29")
    ]
    machine = Faulting(SimulatedMachine(model, store), "div")
    rows = list(characterize(machine, store, "SKL", wanted))
    assert [row.problem for row in rows] == ["", "the code raises an exception", ""]


def test_the_latencies_of_one_instruction(store):
    model = registry.get("SKL")
    (facts,) = [f for f in store.candidates("SKL", "XADD_GPRv_GPRv") if f.name == "XADD (R64, R64)"]
    (row,) = characterize(SimulatedMachine(model, store), store, "SKL", [facts])
    assert {pair: found.cycles for pair, found in row.latencies.items()} == {
        (1, 1): 2,
        (1, 2): 1,
        (2, 1): 2,
        (2, 2): 1,
    }
    assert row.uops == 3


def test_instances_are_encoded_from_operands():
    assert next(encodings("add", ("RAX", "RBX"))).hex() == "4801d8"
    assert next(encodings("vfmadd231ps", ("YMM0", "YMM1", "YMM2"))).hex() == "c4e275b8c2"
    assert list(encodings("add", ("AH", "R8B"))) == []
    assert list(encodings("nonsense", ())) == []
    assert {family(name) for name in ("AH", "AX", "EAX", "RAX")} == {"RAX"}
    assert {family(name) for name in ("R9B", "R9W", "R9D")} == {"R9"}
    assert family("YMM12") == "V12"


def test_the_command_writes_a_table_and_compares(tmp_path, capsys):
    output = tmp_path / "skl.xml"
    words = ["--machine", "sim:SKL", "--forms", "^IMUL .R64, R64.$", "--output", str(output)]
    assert main(["characterize", *words]) == 0
    shown = capsys.readouterr().out
    assert "1 of 1 variants characterised on sim:SKL" in shown
    assert "latencies    2 of 2, 100.0%" in shown
    written = output.read_text()
    assert 'string="IMUL (R64, R64)"' in written
    assert '<latency start_op="2" target_op="1" cycles="3"/>' in written
    assert 'uops="1"' in written


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--machine", "vax"], "'vax' is neither native nor sim:NAME"),
        (["--machine", "sim:VAX"], "unknown microarchitecture 'VAX'"),
        (["--machine", "sim:SKL", "--forms", "^NONSENSE"], "no variant in the tables of SKL is wanted"),
    ],
)
def test_wrong_words_are_explained(words, message, capsys):
    assert main(["characterize", *words]) == 1
    assert message in capsys.readouterr().err


def test_ports_are_compared_as_sets_of_units(store):
    model = registry.get("SKL")
    facts = store.candidates("SKL", "ADD_GPRv_GPRv_01")[0]
    assert table_ports(facts, model) == {frozenset("0156"): 1}
