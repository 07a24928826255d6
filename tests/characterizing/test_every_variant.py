"""Instances of variants that need special values or change control flow: gathers, branches, repeated
strings."""

import pytest
from cyclelens.analyzer.characterizing import machines
from cyclelens.analyzer.characterizing.instances import EncodableVariant, variant
from cyclelens.analyzer.characterizing.machines import MeasuredMachine, RepeatedRun
from cyclelens.analyzer.characterizing.ports import table_ports
from cyclelens.analyzer.facts.matching import Matcher
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.isa.encoder import EncoderMemory, RelativeTarget, encodings
from cyclelens.analyzer.measuring.harness import CannotMeasure, Harness
from cyclelens.analyzer.measuring.requests import BUSY
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.choices import Pages


def named(store, core, name):
    facts_name = registry.get(core).facts_name
    return next(f for form in store.forms() for f in store.candidates(facts_name, form) if f.name == name)


def made(store, core, name):
    return variant(named(store, core, name), Matcher(registry.get(core).facts_name), store)


@pytest.mark.parametrize("core", ["SKL", "ICL", "ZEN2"])
def test_only_what_must_not_run_is_not_made(store, core):
    """Privileged instructions, and those that change the system's state."""
    model = registry.get(core)
    matcher = Matcher(model.facts_name)
    every = [f for form in store.forms() for f in store.candidates(model.facts_name, form)]
    problems = {f.name: p for f in every if isinstance(p := variant(f, matcher, store), str)}
    assert all(problem.endswith(" are not run") for problem in problems.values()), problems
    assert len(problems) < len(every) / 50


@pytest.mark.parametrize(
    "name",
    [
        "JZ (Rel8)",
        "JZ (Rel32)",
        "JMP (Rel8)",
        "JMP (R64)",
        "JMP (M64)",
        "JRCXZ (Rel8)",
        "LOOP (Rel8)",
        "CALL_NEAR (Rel32)",
        "CALL_NEAR (R64)",
        "STOSB_REPE",
        "XLAT",
        "MASKMOVDQU (XMM, XMM)",
        "MOV (EAX, Moffs32)",
        "MOV (Moffs64, RAX)",
        "ENTER (I16, I8)",
        "VPGATHERDD (YMM, VSIB_YMM, YMM)",
        "VGATHERQPS (XMM, VSIB_YMM, XMM)",
    ],
)
def test_units_and_slots_are_those_of_the_tables(store, characterizer, name):
    """Without what gives the operands their values. A jump is always taken, which one unit does (D6)."""
    facts = named(store, "SKL", name)
    row = characterizer("SKL").row(facts)
    jumps = name.startswith("JMP (R")
    assert row.ports == ({frozenset("6"): 1} if jumps else table_ports(facts, registry.get("SKL")))
    assert row.front_end.slots == facts.base.retire_slots


def test_the_latencies_of_a_gather(store, characterizer):
    """Index and mask to the result take 20 cycles in the tables; what the simulator adds to one of them is
    the load that waits for the index."""
    found = characterizer("SKL").row(named(store, "SKL", "VPGATHERDD (XMM, VSIB_XMM, XMM)")).latencies
    result, memory, mask = 1, 2, 3
    assert found[mask, result, ""].cycles == 20
    assert found[memory, result, "address_index"].cycles == pytest.approx(20, abs=1)
    assert found[memory, result, "address"].upper_bound


def test_a_scatter_has_units(store, characterizer):
    facts = named(store, "ICL", "VPSCATTERDD (VSIB_YMM, K, YMM)")
    row = characterizer("ICL").row(facts)
    assert row.ports == table_ports(facts, registry.get("ICL"))
    assert row.latencies[1, 1, "address"].cycles > 0, "a store waits for its address"


@pytest.mark.parametrize("name", ["MOV (M64, R64)", "MOVAPS (M128, XMM)"])
def test_an_address_has_a_latency_into_memory(store, characterizer, name):
    """Through what is loaded from there; the way back counts as little as it can."""
    found = characterizer("SKL").row(named(store, "SKL", name)).latencies
    for part in ("address", "address_index"):
        assert found[1, 1, part].cycles > 3
        assert found[1, 1, part].upper_bound


def test_every_element_of_a_gather_lies_where_the_address_says(store):
    found = made(store, "SKL", "VPGATHERDD (XMM, VSIB_XMM, XMM)")
    code = found.instance(found.choose(), 72)
    zero, ones, full, gather = decode(code)
    index = next(each.index for each in gather.operands if each.index)
    assert zero.text.startswith(f"vpxor {index.lower()}")
    assert ones.mnemonic == "vpcmpeqd"
    assert full.operands[0].register == gather.operands[-1].register
    assert gather.operands[1].displacement == 72


def test_jumps_lead_to_what_follows():
    assert next(encodings("je", (RelativeTarget(),))).hex() == "7400"
    assert "e800000000" in {code.hex() for code in encodings("call", (RelativeTarget(),))}
    assert next(
        encodings("lea", ("RAX", EncoderMemory("RIP", displacement=2, displacement_bytes=4)))
    ).hex() == ("488d0502000000")
    assert list(encodings("add", ("RAX", RelativeTarget()))) == []


HARDWARE = [
    "JZ (Rel8)",
    "JMP (R64)",
    "JMP (M64)",
    "CALL_NEAR (Rel32)",
    "CALL_NEAR (R64)",
    "CALL_NEAR (M64)",
    "RET_NEAR",
    "LOOP (Rel8)",
    "JRCXZ (Rel8)",
    "MOVSB_REPE",
    "XLAT",
    "ENTER (I16, I8)",
    "MOV (AL, Moffs8)",
]


@pytest.mark.parametrize("name", HARDWARE)
def test_hardware_runs_the_instances(store, name, monkeypatch):
    """None of them leaves the block, or uses memory that is not there. That other programs keep the machine
    busy says nothing about it: no command waits for a quiet minute."""
    monkeypatch.setattr(machines, "_PATIENCE", 0.0)
    try:
        with Harness(pages=Pages.SHARED) as harness:
            found = made(store, "SKL", name)
            assert isinstance(found, EncodableVariant)
            chosen = found.choose()
            assert chosen is not None
            code = found.instance(chosen)
            assert code is not None
            run = MeasuredMachine(harness).run(code + found.restoring())
            assert run == BUSY or isinstance(run, RepeatedRun)
    except CannotMeasure as error:
        pytest.skip(f"nothing can be measured here: {error}")
