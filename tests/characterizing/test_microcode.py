"""Decoders of microcoded instructions: which of them, and what comes from the sequencer."""

import pytest
from cyclelens.analyzer.characterizing.characterize import VariantRow
from cyclelens.analyzer.characterizing.front_end import FrontEnds
from cyclelens.analyzer.characterizing.instances import EncodableVariant, variant
from cyclelens.analyzer.characterizing.machines import (
    SimulatedMachine,
)
from cyclelens.analyzer.characterizing.table import xml
from cyclelens.analyzer.facts.matching import Matcher
from cyclelens.analyzer.microarchitectures import registry


def named(store, core, name):
    return next(f for form in store.forms() for f in store.candidates(core, form) if f.name == name)


def front_end_of(machine, facts, store):
    found = variant(facts, Matcher(facts.microarchitecture), store)
    assert isinstance(found, EncodableVariant)
    return FrontEnds(machine).of(found)


@pytest.mark.parametrize(
    ("core", "name", "decoded", "microcode"),
    [
        # Of the published tables: uops_MITE and uops_MS.
        ("SKL", "BTC (M32, R32)", 4, 6),
        ("SKL", "AESKEYGENASSIST (XMM, XMM, I8)", 3, 10),
        ("ICL", "BTC (M32, R32)", 4, 6),
        ("ICL", "AESKEYGENASSIST (XMM, XMM, I8)", 3, 11),
        ("ICL", "RCL (R8l, CL)", 2, 7),
    ],
)
@pytest.mark.parametrize("counted", [True, False], ids=["counters", "cycles"])
def test_microcode_takes_the_first_decoder_alone(store, core, name, decoded, microcode, counted):
    """Cycles show the decoders; how many uops come from the sequencer only counters say."""
    model, facts = registry.get(core), named(store, core, name)
    found = front_end_of(SimulatedMachine(model, store, counted=counted), facts, store)
    assert (found.complex_decoder, found.simple_decoders) == (True, 0)
    expected = (decoded, microcode) if counted else (None, None)
    assert (found.decoded, found.microcode) == expected
    written = "".join(xml([VariantRow(facts, front_end=found)], model))
    assert 'complex_decoder="1"' in written
    assert (f'uops_MITE="{decoded}"' in written) is counted
    assert (f'uops_MS="{microcode}"' in written) is counted


@pytest.mark.parametrize(("name", "decoded"), [("ADD (R64, M64)", 1), ("XADD (R64, R64)", 3)])
def test_what_the_decoders_deliver_is_no_microcode(store, name, decoded):
    found = front_end_of(SimulatedMachine(registry.get("SKL"), store), named(store, "SKL", name), store)
    assert (found.decoded, found.microcode) == (decoded, 0)
