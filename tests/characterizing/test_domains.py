"""Legacy SSE and AVX, integers and floating-point numbers: what crosses between them must not count."""

import pytest
from cyclelens.analyzer.characterizing.characterize import Characterizer, VariantRow
from cyclelens.analyzer.characterizing.instances import EncodableVariant, variant
from cyclelens.analyzer.characterizing.latency import BypassDelay, Latencies
from cyclelens.analyzer.characterizing.links import Domain
from cyclelens.analyzer.characterizing.machines import ALL_THE_SAME, SimulatedMachine
from cyclelens.analyzer.characterizing.ports import table_ports
from cyclelens.analyzer.characterizing.table import xml
from cyclelens.analyzer.cli.main import main
from cyclelens.analyzer.facts.matching import Matcher
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.options import ModelOptions
from msgspec.structs import replace

INTEGER = ("pshufd", "vpshufd", "paddd", "vpaddd", "pand", "vpand")
FLOAT = ("movshdup", "vpermilps", "addps", "vaddps", "mulps", "vmulps")
DELAY = 1


def named(store, core, name):
    return next(f for form in store.forms() for f in store.candidates(core, form) if f.name == name)


class Switching(SimulatedMachine):
    """Haswell, which puts the upper halves aside where legacy SSE follows 256-bit code. Keeps what it ran."""

    def __init__(self, store, *, counted):
        super().__init__(registry.get("HSW"), store, ModelOptions(), counted=counted)
        self.asked = []

    def run(self, code, start=ALL_THE_SAME):
        self.asked.append(decode(code))
        return super().run(code, start)


@pytest.fixture(scope="module", params=[True, False], ids=["counters", "cycles"])
def switching(request, store):
    machine = Switching(store, counted=request.param)
    return machine, Characterizer(machine, store, registry.get("HSW"))


@pytest.mark.parametrize(
    "name",
    [
        "VPADDB (YMM, YMM, YMM)",
        "VMULPS (YMM, YMM, YMM)",
        "VHADDPS (YMM, YMM, YMM)",
        "HADDPS (XMM, XMM)",
    ],
)
def test_no_transition_between_sse_and_avx_is_measured(store, switching, name):
    """With one set of blocking instructions a switch of 70 cycles made 256-bit uops look as if they had
    other ports, or none."""
    machine, characterizer = switching
    facts = named(store, "HSW", name)
    machine.asked.clear()
    row = characterizer.row(facts)
    assert (row.ports, row.ports_problem) == (table_ports(facts, registry.get("HSW")), "")
    own = name.partition(" ")[0].lower()
    for block in machine.asked:
        if any(each.mnemonic == own for each in block):
            vectors = {each.mnemonic[0] == "v" for each in block if "mm" in each.text}
            assert len(vectors) == 1, [each.text for each in block]


def latencies_of(machine, facts, store):
    found = variant(facts, Matcher(facts.microarchitecture), store)
    assert isinstance(found, EncodableVariant)
    return Latencies(machine).of(found)


class Bypassing(SimulatedMachine):
    """A core that takes longer where a chain of vectors leads from one domain to the other."""

    def run(self, code, start=ALL_THE_SAME):
        run = super().run(code, start)
        block = [each for each in decode(code) if each.mnemonic in INTEGER + FLOAT]
        # Each instruction of a chain writes the register that the next one, or the first, reads.
        domains = [each.mnemonic in INTEGER for each in block]
        chained = all(
            before.operands[0].register in {each.register for each in after.operands[1:] or after.operands}
            for before, after in zip(block, block[1:] + block[:1], strict=True)
        )
        crossings = sum(one != other for one, other in zip(domains, domains[1:] + domains[:1], strict=True))
        if isinstance(run, str) or not chained:
            return run
        return replace(run, cycles=run.cycles + DELAY * crossings)


@pytest.mark.parametrize(
    ("name", "latency", "slower"),
    [
        ("VPADDD (XMM, XMM, XMM)", 1, Domain.FLOAT),
        ("VADDPS (XMM, XMM, XMM)", 4, Domain.INTEGER),
        ("VMULPS (YMM, YMM, YMM)", 4, Domain.INTEGER),
    ],
)
def test_a_bypass_delay_is_a_finding_and_no_part_of_the_latency(store, name, latency, slower):
    model, facts = registry.get("SKL"), named(store, "SKL", name)
    found = latencies_of(Bypassing(model, store), facts, store)
    assert (found[2, 1, ""].cycles, found[2, 1, ""].bypass) == (latency, BypassDelay(2 * DELAY, slower))
    written = "\n".join(xml([VariantRow(facts, latencies=found)], model))
    assert f"<!-- from 2 to 1: bypass delay of 2 cycles beside {slower} shuffles -->" in written


@pytest.mark.parametrize(
    ("name", "shuffles"),
    [
        ("ADDPS (XMM, XMM)", {"movshdup", "pshufd"}),
        ("VADDPS (XMM, XMM, XMM)", {"vpermilps", "vpshufd"}),
        ("VADDPS (YMM, YMM, YMM)", {"vpermilps", "vpshufd"}),
    ],
)
def test_chains_are_closed_in_both_domains_and_in_the_encoding_of_the_instruction(store, name, shuffles):
    machine = Switching(store, counted=True)
    latencies = latencies_of(machine, named(store, "HSW", name), store)
    assert latencies[2, 1, ""].bypass is None
    own = name.partition(" ")[0].lower()
    used = {each.mnemonic for block in machine.asked for each in block}
    assert used - {own, "vxorps", "xorps", "vpxor", "pxor"} == shuffles


def test_the_command_counts_bypass_delays(monkeypatch, capsys):
    monkeypatch.setattr("cyclelens.analyzer.characterizing.machines.SimulatedMachine", Bypassing)
    assert main(["characterize", "--machine", "sim:SKL", "--forms", r"^VADDPS .XMM, XMM, XMM.$"]) == 0
    assert "2 latencies with a bypass delay of 2 cycles beside integer shuffles" in capsys.readouterr().out
