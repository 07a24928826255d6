"""Divisions and square roots, with values of few and of many digits."""

import pytest
from cyclelens.analyzer.characterizing.characterize import VariantRow
from cyclelens.analyzer.characterizing.divisions import Divisions, divides
from cyclelens.analyzer.characterizing.instances import variant
from cyclelens.analyzer.characterizing.latency import MeasuredLatency
from cyclelens.analyzer.characterizing.links import Links
from cyclelens.analyzer.characterizing.machines import ALL_THE_SAME, RepeatedRun, SimulatedMachine
from cyclelens.analyzer.characterizing.table import xml
from cyclelens.analyzer.facts.matching import Matcher
from cyclelens.analyzer.facts.store import open_store
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.microarchitectures import registry
from testkit.stubs import StubMachine


@pytest.fixture(scope="module")
def made():
    """A variant of Skylake by its name."""
    store, matcher = open_store(), Matcher("SKL")
    every = {each.name: each for form in store.forms() for each in store.candidates("SKL", form)}
    return lambda name: variant(every[name], matcher, store)


@pytest.mark.parametrize(
    ("name", "latencies"),
    [
        ("VDIVPS (XMM, XMM, XMM)", {(2, 1, ""): 11, (3, 1, ""): 11}),
        ("DIVPS (XMM, XMM)", {(1, 1, ""): 11, (2, 1, ""): 11}),
        ("VSQRTPD (XMM, XMM)", {(2, 1, ""): 13}),
        ("DIV (R32)", {(1, 2, ""): 26, (2, 2, ""): 24, (3, 2, ""): 24, (1, 3, ""): 26}),
    ],
)
def test_the_tables_of_a_simulated_core_are_found_again(made, name, latencies):
    machine = SimulatedMachine(registry.get("SKL"), open_store())
    found = Divisions(machine, Links(machine)).latencies(made(name))
    assert {pair: found[pair].cycles for pair in latencies} == latencies
    assert {pair: found[pair].most for pair in latencies} == latencies


class Watched(StubMachine):
    """A machine that only remembers what it was asked."""

    def __init__(self):
        self.asked = []

    def run(self, code, start=ALL_THE_SAME):
        self.asked.append((code, start))
        return RepeatedRun(10.0)


@pytest.mark.parametrize("name", ["DIV (R8l)", "DIV (R16)", "DIV (R64)", "IDIV (R32)", "IDIV (R64)"])
def test_no_quotient_is_too_large(made, name):
    """Neither with few digits nor with many, and those with many have nearly all that there can be."""
    machine, division = Watched(), made(name)
    divisions = Divisions(machine, Links(machine))
    for many in (False, True):
        divisions.throughput(division, many=many)
        code, start = machine.asked[-1]
        (instruction,) = (each for each in decode(code)[-1:] if each.mnemonic in ("div", "idiv"))
        width = 8 << instruction.effective_operand_size if name != "DIV (R8l)" else 8
        held = dict(start.registers)
        divisor = next(value for register, value in held.items() if register not in ("RAX", "RDX"))
        dividend = held["RAX"] | (held.get("RDX", 0) << width if width > 8 else 0)
        quotient = dividend // divisor
        assert quotient < 1 << width - 1, "as a signed number too"
        assert (quotient.bit_length() >= width - 2) if many else quotient == 1


def test_a_register_in_the_chain_gets_its_value_again(made):
    """By AND and OR with the same word, which keep the dependence."""
    machine = Watched()
    skylake = SimulatedMachine(registry.get("SKL"), open_store())
    Divisions(_Both(machine, skylake), Links(skylake)).latencies(made("VDIVPD (XMM, XMM, XMM)"))
    chains = [code for code, _ in machine.asked if any(each.mnemonic == "vdivpd" for each in decode(code))]
    assert chains
    for code in chains:
        texts = [each.text for each in decode(code)]
        (anded,) = [text for text in texts if text.startswith("vandps")]
        assert anded.replace("vandps", "vorps") in texts


class _Both(StubMachine):
    """Asks one machine, and gives the answers of another one."""

    def __init__(self, watched, machine):
        self._watched, self._machine = watched, machine

    def run(self, code, start=ALL_THE_SAME):
        self._watched.run(code, start)
        return self._machine.run(code, start)


def test_only_divisions_have_values(made):
    assert divides(made("DIV (R64)"))
    assert divides(made("VSQRTSS (XMM, XMM, XMM)"))
    assert not divides(made("VMULPS (XMM, XMM, XMM)"))


def test_both_figures_are_written(made):
    """As the tables of uops.info have them: the least and the most."""
    facts = made("DIV (R64)").facts
    row = VariantRow(
        facts, cycles=7.0, most_cycles=12.0, latencies={(1, 2, ""): MeasuredLatency(10, most=18)}
    )
    written = "".join(xml([row], registry.get("ZEN4")))
    assert 'min_cycles="10" max_cycles="18"' in written
    assert 'TP_loop="7.00" TP_loop_many_digits="12.00" div_cycles="7"' in written
