"""A return whose target is predicted is a load and a jump, whatever was counted beside it (D10)."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.facts.store import open_store
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.facts import Figures
from cyclelens.analyzer.model.options import DEFAULT, PUBLISHED
from cyclelens.analyzer.simulator import simulate
from cyclelens.analyzer.uops.returns import of_flags_from_stack, of_predicted_return
from testkit.blocks import block_of, in_a_loop

FUNCTION = "4801d8 4801d9 c3"  # add rax, rbx; add rcx, rbx; ret
COUNTED = Figures(uops=20, retire_slots=2, ports=(("06", 6), ("15", 13), ("23", 4)))
INTEL = [name for name in registry.names() if not name.startswith("ZEN")]


def record(name: str, core: str) -> Figures:
    """The published figures of a form."""
    store = open_store()
    return next(
        facts.base for form in store.forms() for facts in store.candidates(core, form) if facts.name == name
    )


@pytest.mark.parametrize(("form", "name"), [("RET_NEAR", "RET_NEAR"), ("RET_NEAR_IMMw", "RET_NEAR (I16)")])
def test_the_rule_has_what_was_counted_where_all_returns_were_predicted(form: str, name: str) -> None:
    """On Golden Cove uops.info counts a load and a jump, and with a constant two jumps."""
    known = record(name, "Golden Cove")
    assert of_predicted_return(known, form, registry.get("SPR")) == known
    made = of_predicted_return(COUNTED, form, registry.get("SPR"))
    assert dict(made.ports or ()) == dict(known.ports or ())
    assert made.uops == sum(uops for _, uops in known.ports or ())


@pytest.mark.parametrize("core", INTEL)
def test_a_short_function_takes_about_a_cycle(core: str) -> None:
    """Two additions and a return of two slots. LLVM's models of Haswell to Ice Lake (version 14) have one
    return per cycle. Decoders take two cycles on some cores."""
    block = block_of(FUNCTION.replace(" ", ""), core)
    assert 0.9 < simulate(block, registry.get(core)).cycles_per_iteration < 2.1
    assert all(not template.ms_uops for template in block.instructions)


def test_other_instructions_and_the_published_model_keep_their_records() -> None:
    core = registry.get("BDW")
    assert of_predicted_return(COUNTED, "JMP_MEMv", core) == COUNTED
    block = block_of(FUNCTION.replace(" ", ""), "BDW", options=PUBLISHED)
    assert simulate(block, core, options=PUBLISHED).cycles_per_iteration == pytest.approx(9.0, abs=0.1)


@pytest.mark.parametrize(
    ("name", "cycles", "published"), [("SKL", 21, 233), ("CFL", 21, 303), ("GNR", 27, 6)]
)
def test_flags_from_the_stack_are_not_miscounted(name: str, cycles: float, published: float) -> None:
    """uops.info: one every 21 cycles on Skylake, 26.65 on Alder Lake. The published model takes every uop
    that was counted."""
    core = registry.get(name)
    made = [
        simulate(block_of(in_a_loop("9d"), name, options=options), core, options=options).cycles_per_iteration
        for options in (DEFAULT, PUBLISHED)
    ]
    assert made == pytest.approx([cycles, published], abs=1.0)
    kept = of_flags_from_stack(record("POPFQ", "SKX"), "POPFQ", registry.get("SKX"))
    assert kept == record("POPFQ", "SKX")
    counted = of_flags_from_stack(record("POPFQ", "SKL"), "POPFQ", registry.get("SKL"))
    assert sorted(counted.ports or ()) == sorted(kept.ports or ())
