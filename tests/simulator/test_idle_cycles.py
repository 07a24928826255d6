"""Cycles in which nothing can happen are skipped, and nothing else changes."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.choices import Model
from cyclelens.analyzer.model.options import PUBLISHED, ModelOptions
from cyclelens.analyzer.simulator import simulate
from cyclelens.analyzer.simulator.run_request import RunRequest
from msgspec.structs import replace
from testkit.blocks import block_of

SLOW = {
    "a chain of divisions": "48f7f1",  # div rcx
    "divisions of vectors": "0f5ec1" * 8,  # divps xmm0, xmm1
    "roots and a load": "660f51c0488b00",  # sqrtpd xmm0, xmm0; mov rax, [rax]
    "store, forwarded": "488906488b0648f7f1",  # mov [rsi], rax; mov rax, [rsi]; div rcx
    "locked": "f00106",  # lock add [rsi], eax
    "serialised": "0faee848f7f1",  # lfence; div rcx
    "microcode that serialises": "0fa24801d8",  # cpuid; add rax, rbx
    "fences of both kinds": "8b470c0faef0890f0faef88b07",  # loads and stores around mfence and sfence
    "exchanges": "48872ef0480fc117",  # xchg [rsi], rbp; lock xadd [rdi], rdx
    "length-changing prefixes": "6605341266053412660534126605341266053412",  # add ax, 0x1234
    "moves and a division": "4889d84889c348f7f1",
    "divisions that wait for the divider": "0f5ed90f5ee10f5ee90f5ef1",  # divps of xmm3 to xmm6 by xmm1
    "a load that cannot forward": "88060fb606488b06",  # mov [rsi], al; movzx eax, [rsi]; mov rax, [rsi]
}
SLOW_ALONE = {"a slow one alone": "480fc7f00fafc1"}  # rdrand rax; imul eax, ecx
NAMES = ("SNB", "HSW", "SKL", "ICL", "ZEN2", "GNR", "LNL", "ZEN3", "ZEN4", "ZEN5")
VARIANTS = [
    *((name, ModelOptions(model=Model.HARDWARE)) for name in NAMES),
    # The published model has one pipeline, and each of its variants changes one unit.
    ("SNB", PUBLISHED),
    ("SKL", PUBLISHED),
    ("ICL", PUBLISHED),
    ("SKL", ModelOptions(simple_front_end=True)),
    ("SKL", ModelOptions(unfused_reorder_buffer=True)),
]
LOOP = "49ffcf75f0"  # dec r15; jnz


@pytest.mark.parametrize(("name", "options"), VARIANTS)
@pytest.mark.parametrize("loop", [True, False], ids=["loop", "unrolled"])
def test_every_event_is_where_it_would_be_cycle_by_cycle(
    name: str, loop: bool, options: ModelOptions
) -> None:
    model = registry.get(name)
    for title, code in (SLOW | SLOW_ALONE if model.macro_ops else SLOW).items():
        block = block_of(code + LOOP * loop, name, loop=loop, options=options)
        for request in (RunRequest(trace=True), RunRequest(), RunRequest(account=True)):
            skipping = simulate(block, model, request=request, options=options)
            stepping = simulate(block, model, request=replace(request, every_cycle=True), options=options)
            assert stepping.visited_cycles == stepping.simulated_cycles
            assert replace(skipping, visited_cycles=stepping.visited_cycles) == stepping, title


@pytest.mark.parametrize(
    ("title", "name", "options"),
    [
        ("serialised", "SKL", PUBLISHED),
        ("serialised", "SKL", ModelOptions(model=Model.HARDWARE)),
        ("microcode that serialises", "SKL", PUBLISHED),
        ("divisions that wait for the divider", "SNB", PUBLISHED),
        ("a slow one alone", "ZEN5", PUBLISHED),
    ],
)
def test_waiting_costs_little(title: str, name: str, options: ModelOptions) -> None:
    block = block_of((SLOW | SLOW_ALONE)[title] + LOOP, name, loop=True, options=options)
    run = simulate(block, registry.get(name), options=options)
    assert run.visited_cycles < run.simulated_cycles * 0.75


@pytest.mark.parametrize("name", ["ZEN3", "ZEN4", "ZEN5"])
def test_decoders_in_front_of_a_full_queue_cost_little(name: str) -> None:
    """Straight-line code, of which the queue of macro-ops holds as many as it has entries."""
    run = simulate(block_of("48f7f1" + "90" * 4, name, loop=False), registry.get(name))
    assert run.visited_cycles < run.simulated_cycles * 0.75


def test_a_full_scheduler_that_waits_costs_nothing() -> None:
    divisions = 64
    block = block_of("0f5ec1" * divisions + LOOP, "SKL", loop=True)  # divps xmm0, xmm1: 11 cycles
    run = simulate(block, registry.get("SKL"))
    assert run.simulated_cycles > 10 * divisions * 11
    assert run.visited_cycles < run.simulated_cycles / 4


def test_an_instruction_of_dozens_of_uops_in_one_fused_uop() -> None:
    """The last issue group may overfill the scheduler by as many. Four of 28 uops are issued in a cycle."""
    block = block_of("c8000000c9" + LOOP, "CFL", loop=True)  # enter 0, 0; leave
    assert max(size for each in block.instructions for size in each.fused_uops) == 28
    assert simulate(block, registry.get("CFL"), request=RunRequest(min_rounds=4)).cycles_per_iteration > 7
