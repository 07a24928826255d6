"""No figure is below its own bound, for every core, both models, and the listed kernels and forms.

A run of the tests takes a part of them, another one for every core; with CYCLELENS_ALL_BOUNDS set it takes
all.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from cyclelens.analyzer.bounds.registry import compute_bounds
from cyclelens.analyzer.insight.explain import explain, steady_state
from cyclelens.analyzer.isa.counted_loop import loop_end
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.choices import Model
from cyclelens.analyzer.model.options import ModelOptions
from cyclelens.analyzer.simulator import simulate
from cyclelens.analyzer.simulator.failures import SimulationStuck
from cyclelens.analyzer.uops.operands import TooManyUopsError
from testkit.blocks import block_of
from testkit.core_tables import listed

MODELS = Model.UICA, Model.HARDWARE
ROUNDING = 0.006
CYCLES = 3.0
"""What a whole window of rounds may lack where the rounds have no period."""
KERNELS_PART, FORMS_PART = 4, 8
REPORTED = {
    "renamed memory": "4889442408 488b442408 4883c001",  # mov [rsp+8], rax; mov rax, [rsp+8]; add rax, 1
    "renamed in place": "48830601",  # add qword ptr [rsi], 1
    "latencies that differ": "f30f51c8",  # sqrtss xmm1, xmm0
    "to integer and back": "66480f6ec0 66480f7ec0",  # movq xmm0, rax; movq rax, xmm0
    "spilled": "48894424 08 ff13 488b442408 4801d0",  # mov [rsp+8], rax; call [rbx]; mov back; add rax, rdx
    "one line": "4c89642460 4c89642468 4c896c2470 488d7c2408 48896f70",  # stores; lea rdi, [rsp+8]; store
    "high byte": "00d8 00dc 89c1",  # add al, bl; add ah, bl; mov ecx, eax
    "additions": "f20f58c1 f20f58c1 f20f59c1",  # addsd, addsd, mulsd
}


def blocks(name: str) -> Iterator[tuple[str, str]]:
    """Modes and encodings."""
    for code in REPORTED.values():
        yield "loop", code
        yield "unroll", code
    number, everything = registry.names().index(name), "CYCLELENS_ALL_BOUNDS" in os.environ
    part = 1 if everything else KERNELS_PART
    for _, mode, code, _ in listed("kernels")[number % part :: part]:
        yield mode, code
    part = 1 if everything else FORMS_PART
    for code, _ in listed("forms")[number % part :: part]:
        yield "loop", code
        yield "unroll", code


def above(name: str, model: Model, mode: str, code: str) -> Iterator[str]:
    """The bounds above the figure."""
    core, options = registry.get(name), ModelOptions(model=model)
    loop = mode == "loop"
    if loop:
        code += (loop_end(decode(bytes.fromhex(code))) or b"").hex()
    try:
        block = block_of(code, name, loop=loop, options=options)
        simulation = simulate(block, core, options=options)
    except (TooManyUopsError, SimulationStuck):
        return
    figure = steady_state(simulation)
    rounds = simulation.last_round - simulation.first_round
    lacking = 0.0 if simulation.period is not None else CYCLES / max(1, rounds)
    found = dict(compute_bounds(block, core, simulation))
    shown = dict(explain(block, core, simulation, options).bounds)
    for bounds, room in ((found, ROUNDING + lacking), (shown, ROUNDING)):
        for bound, value in bounds.items():
            if value > figure + room:
                yield f"{model} {mode}: {bound} {value:.2f} above {figure:.2f}: {code}"


@pytest.mark.parametrize("name", registry.names())
def test_no_figure_is_under_its_bound(name: str) -> None:
    found = [
        each for model in MODELS for mode, code in blocks(name) for each in above(name, model, mode, code)
    ]
    assert not found, "\n".join(found)


def test_a_value_through_renamed_memory_takes_no_time() -> None:
    """Zen 3: 1.00, by memory and the addition."""
    block = block_of(f"{REPORTED['renamed memory']} 49ffcf 75ef", "ZEN3")
    prediction = explain(block, registry.get("ZEN3"), simulate(block, registry.get("ZEN3")))
    assert prediction.cycles_per_iteration == prediction.bounds["Dependencies"] == 1.0
    assert dict(prediction.chain).get(0, 0) == dict(prediction.chain).get(1, 0) == 0
