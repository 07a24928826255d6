"""From each register and flag to each result, an instruction's uops take the cycles that were measured.

The ``latencies`` of a template are uops.info's measurements of pairs of operands; the uops, which the
simulated core executes, follow from them by other rules (U8, M13 and more). All forms of
``tests/tables/forms.txt`` are compared but those below. Addresses have cycles of their own, those of a load.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pytest
from cyclelens.analyzer.bounds.latencies import arrivals
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.options import PUBLISHED
from cyclelens.analyzer.model.uops import InstructionTemplate, Value, ValueKind
from cyclelens.analyzer.simulator import simulate
from cyclelens.analyzer.uops.operands import TooManyUopsError
from cyclelens.analyzer.uops.registers import is_general_purpose, is_simd
from testkit.blocks import block_of, template_of
from testkit.core_tables import listed

SEVERAL_CHAINS = {
    "cmpxchg", "cmpxchg16b", "div", "idiv", "leave", "rcr", "rdtsc", "xadd", "xchg", "xgetbv", "vpcmpistri",
}  # fmt: skip
"""Microcode, divisions and locked accesses: the uops of several results wait for each other."""
GATHERS = {"vgatherdps", "vgatherqpd", "vpgatherdd"}
"""The mask has two latencies: that of its own chain, and that of the loads which it allows."""
COUNTS = {"shl", "sar", "shld"}
"""Flags that a count of zero leaves as they are have the measurement of a count that is not known."""
SAME = {"sbb rax, rax", "bsf rax, rax", "bsr eax, eax", "lea ax, [rbx+rcx]", "add al, ah", "add ah, bl"}
"""A register is read twice, or by its parts."""
DIFFERENT = SEVERAL_CHAINS | GATHERS | COUNTS
OF_CORES: Mapping[str, set[str]] = {
    # A sum reaches the next addition a cycle earlier than others (Trait.FP_ADD): the uop has that latency.
    "ADL": {"addps", "addss", "addsd", "subsd", "vaddsd", "vaddss", "vsubsd"},
    "ZEN5": {"addps", "addss", "addsd", "subsd"},
    # The two results have pipes of their own, the flags that of the lower half.
    "LNL": {"mul", "imul", "mulx", "crc32"},
    "ZEN2": {"bsr"},
    "SKL": set(),
    "ZEN4": set(),
}


def pairs(template: InstructionTemplate) -> Iterable[tuple[Value, Value, int]]:
    """Each register and flag that is no address, with each result, and the measured cycles between them."""
    addresses = {operand.canonical for operand in template.address_inputs}
    sources = {
        "reg": [(ValueKind.REGISTER, operand.canonical) for operand in template.register_inputs],
        "flag": [(ValueKind.FLAGS, group) for group in template.flag_inputs],
    }
    results = {
        "reg": [(ValueKind.REGISTER, operand.canonical) for operand in template.register_outputs],
        "flag": [(ValueKind.FLAGS, group) for group in template.flag_outputs],
    }
    for (start, place, target, number), cycles in template.latencies.items():
        if start in sources and target in results and sources[start][place][1] not in addresses:
            yield sources[start][place], results[target][number], cycles


def changes_unit(source: Value, result: Value) -> bool:
    """True for a way into or out of the vector unit."""
    return is_simd(source[1]) != is_simd(result[1]) or is_general_purpose(source[1]) != is_general_purpose(
        result[1]
    )


@pytest.mark.parametrize("core", OF_CORES)
def test_uops_take_the_measured_cycles_from_each_source_to_each_result(core: str) -> None:
    wrong = []
    compared = 0
    for code, text in listed("forms"):
        mnemonic = text.removeprefix("lock ").split(" ")[0]
        if text in SAME or mnemonic in DIFFERENT | OF_CORES[core]:
            continue
        try:
            template = template_of(code, core)
        except TooManyUopsError:
            continue
        if template.facts is None or template.eliminable_move:
            continue
        for source, result, measured in pairs(template):
            # A transfer on Zen 4 occupies an ALU, and the core adds what is missing (M34).
            if core == "ZEN4" and changes_unit(source, result):
                continue
            found = arrivals(template, source, 0).get(result)
            compared += 1
            if found != measured:
                wrong.append(f"{text}: {source[1]} to {result[1]}: {found}, measured {measured}")
    assert not wrong
    assert compared > 400


@pytest.mark.parametrize("code", ["f7f1", "48f7f1", "48f7f9"], ids=["div ecx", "div rcx", "idiv rcx"])
@pytest.mark.parametrize("core", ["ZEN3", "ZEN4"])
def test_a_division_waits_for_its_divisor_and_the_lower_half(code: str, core: str) -> None:
    """The upper half, which is 0 as a rule, does not decide when the results are there."""
    template = template_of(code, core)
    for source, result, measured in pairs(template):
        if source[1] in ("RCX", "RAX"):
            assert arrivals(template, source, 0)[result] == measured


UNSTATED = {
    # a stored value or a register comes back through what has no figures: (core, code, cycles per round)
    "movapd [rdi], xmm0; sqrtpd xmm0, [rdi]": ("SKL", "660f2907660f5107", 18.0),
    "vmovaps [rdi], ymm0; vsqrtps ymm0, [rdi]": ("HSW", "c5fc2907c5fc5107", 23.0),
    "mov [rdi], rax; kmovq k1, [rdi]; kmovq rax, k1": ("SKX", "488907c4e1f8900fc4e1fb93c1", 10.0),
    "kmovq k1, rax; kmovq rax, k1": ("ICL", "c4e1fb92c8c4e1fb93c1", 4.0),
}


@pytest.mark.parametrize(("core", "code", "cycles"), UNSTATED.values(), ids=UNSTATED)
def test_what_has_no_latency_takes_that_of_its_sibling(core: str, code: str, cycles: float) -> None:
    """uops.info has no cycles to the only result of these from any source, but 13 and 18 of the roots from
    a register, and 3 of ``kmovd`` in either direction, one of them too many (O11); 5 are those of the
    forwarded value (O9)."""
    block = block_of(code, core)
    assert simulate(block, registry.get(core)).cycles_per_iteration == pytest.approx(cycles, abs=0.1)


ABSOLUTE = {
    "imul rax, [0x1000]": ("480faf042500100000", 3.0, 3.0),
    "imul rax, fs:[0x28]": ("64480faf042528000000", 3.0, 3.0),
    "vmulpd xmm0, xmm0, [0x1000]": ("c5f959042500100000", 4.0, 3.0),
}


@pytest.mark.parametrize(("code", "intel", "amd"), ABSOLUTE.values(), ids=ABSOLUTE)
def test_an_operand_at_a_fixed_address_leaves_the_latency(code: str, intel: float, amd: float) -> None:
    """The register takes as long as with an operand at [rdi]; the published model makes it 1 (O10)."""
    for core, cycles in (("SKL", intel), ("ICL", intel), ("ZEN4", amd)):
        block = block_of(code, core)
        assert simulate(block, registry.get(core)).cycles_per_iteration == pytest.approx(cycles, abs=0.05)
    published = block_of(code, "SKL", options=PUBLISHED)
    found = simulate(published, registry.get("SKL"), options=PUBLISHED).cycles_per_iteration
    assert found == pytest.approx(1.0, abs=0.05)


DIVISIONS_FROM_MEMORY = {
    "divsd xmm0, [rdi]": "f20f5e07",
    "vdivpd xmm0, xmm0, [rdi]": "c5f95e07",
    "vsqrtsd xmm0, xmm0, [rdi]": "c5fb5107",
}


@pytest.mark.parametrize("code", DIVISIONS_FROM_MEMORY.values(), ids=DIVISIONS_FROM_MEMORY)
@pytest.mark.parametrize(("core", "cycles"), [("HSW", 10.0), ("SKL", 13.0), ("ICL", 13.0), ("GNR", 13.0)])
def test_a_division_by_memory_waits_for_its_register(code: str, core: str, cycles: float) -> None:
    """uops.info has no cycles from memory for these, and 10 and 13 from the register (O9)."""
    block = block_of(code, core)
    assert simulate(block, registry.get(core)).cycles_per_iteration == pytest.approx(cycles, abs=0.1)
    published = block_of(code, core, options=PUBLISHED)
    found = simulate(published, registry.get(core), options=PUBLISHED).cycles_per_iteration
    assert found < 0.9 * cycles, "the published model takes one cycle for both sources"
