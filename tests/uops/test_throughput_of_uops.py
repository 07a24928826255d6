"""On AMD's cores an instruction keeps units, accesses or dispatch busy for its measured throughput.

All forms of ``tests/tables/forms.txt`` that uops.info measured at a cycle or more are compared (M16, M20,
M21, M39). What they really take together is simulated by ``tests/simulator/test_amd_throughput.py``.
"""

from __future__ import annotations

import pytest
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.units import UopKind, unit_cycles
from cyclelens.analyzer.model.uops import InstructionTemplate, Trait
from cyclelens.analyzer.simulator import simulate
from testkit.blocks import block_of, template_of
from testkit.core_tables import listed
from testkit.narrowing import some

OTHERS = {
    "div", "idiv",  # the second uop has a cycle of the divider's ALU
    "push", "pop", "movnti",  # measured on the chain through memory
    "vgatherdps", "vpgatherdd",  # eight loads, and one uop more on their pipe
    "rep",  # its cycles are those of microcode
    "vzeroupper",  # ends its group
}  # fmt: skip


def cycles(template: InstructionTemplate, core: str) -> float:
    """Cycles for which the instruction keeps something busy: the longest of all."""
    model = registry.get(core)
    rules, ops = some(model.macro_ops), some(template.macro_ops)
    busy = [(uop, max(1.0, uop.busy_eighths / 8)) for uop in template.uops]
    computing = [each for each in busy if each[0].kind in (UopKind.COMPUTE, UopKind.STORE_DATA)]
    vector = any(uop.traits & Trait.VECTOR for uop in template.uops)
    wide = any(uop.traits & Trait.WIDE for uop in template.uops)
    reads = sum(access.read for access in template.memory_operands) * (2 if wide else 1)
    return max(
        unit_cycles((uop.units.mask, taken) for uop, taken in computing),
        sum(taken for uop, taken in busy if uop.traits & (Trait.ALONE | Trait.DIVIDES)),
        reads / (rules.vector_loads_per_cycle if vector else rules.loads_per_cycle),
        sum(access.written for access in template.memory_operands) / rules.stores_committed_per_cycle,
        (len(template.fused_uops) + ops.lost_slots) / model.issue_width,
    )


@pytest.mark.parametrize(("core", "least"), [("ZEN3", 100), ("ZEN4", 120)])
def test_an_instruction_keeps_busy_what_makes_it_slow(core: str, least: int) -> None:
    wrong = {}
    compared = 0
    for code, text in listed("forms"):
        template = template_of(code, core)
        measured = None if template.facts is None else template.facts.base.throughput
        if text.split(" ")[0] in OTHERS or measured is None or measured < 1:
            continue
        compared += 1
        if cycles(template, core) != pytest.approx(measured, rel=0.06):
            wrong[text] = cycles(template, core), measured
    assert not wrong
    assert compared >= least


@pytest.mark.parametrize("name", ["SKL", "GNR", "ZEN2", "ZEN5"])
def test_an_instruction_uses_as_many_units_as_it_has_uops_that_execute(name: str) -> None:
    """Counted by the simulation: what the tables say of an instruction is what it does."""
    # mov rax, [rsi]; add [rdi], rbx; imul rcx, rdx; vaddps ymm0, ymm1, ymm2; lea r8, [r9+r10*4]
    block = block_of("488b0648011f480fafcac5f458c24f8d0491", name, loop=False)
    usage = simulate(block, registry.get(name)).usage
    for template, used in zip(block.instructions, usage, strict=True):
        assert sum(use.uops for use in template.uses) == pytest.approx(used.executed), template.name
