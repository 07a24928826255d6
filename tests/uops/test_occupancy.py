"""Instructions that start less often than their uops explain (D4), and what their bound is called."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.bounds.throughput import throughput_bound
from cyclelens.analyzer.insight.explain import explain
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.options import DEFAULT, PUBLISHED, ModelOptions
from cyclelens.analyzer.model.result import Prediction
from cyclelens.analyzer.simulator import simulate
from testkit.blocks import block_of, in_a_loop

# vpcmpeqd ymm1, ymm1, ymm1; vpgatherqq ymm3, [rsi+ymm2*8], ymm1; dec r15; jnz
FOUR = "c5f576c9 c4e2f5911cd6 49ffcf 75f1"
# vpcmpeqd xmm9, xmm9, xmm9; vgatherdps xmm0, [rdi+xmm8*4], xmm9; dec r15; jnz
SINGLE_PRECISION = "c4413176c9 c4a231920487 49ffcf 75f0"
# vmovdqa ymm1, ymm15; vpxor xmm3, xmm3, xmm3; vpgatherqq ymm3, [rsi+ymm2*8], ymm1; dec r15; jnz
COPIED_MASK = "c4c17d6fcf c5e1efdb c4e2f5911cd6 49ffcf 75ec"
RDTSCP = "0f01f9 49ffcf 75f8"
LDMXCSR = "0fae16 49ffcf 75f8"
MASKED_STORES = {
    "vpmaskmovd [rdi], ymm1, ymm0": ("c4e2758e07 49ffcf 75f6", 12.0),
    "vmaskmovps [rdi], ymm1, ymm0": ("c4e2752e07 49ffcf 75f6", 12.0),
    "vpmaskmovd [rdi], xmm1, xmm0": ("c4e2718e07 49ffcf 75f6", 6.0),
}


def predicted(code: str, name: str, options: ModelOptions = DEFAULT) -> Prediction:
    core = registry.get(name)
    block = block_of(code.replace(" ", ""), name, options=options)
    return explain(block, core, simulate(block, core, options=options), options)


@pytest.mark.parametrize("code", [FOUR, SINGLE_PRECISION], ids=["vpgatherqq", "vgatherdps"])
@pytest.mark.parametrize(("name", "cycles"), [("SKL", 4.0), ("SKX", 4.0), ("ICL", 3.0), ("TGL", 3.0)])
def test_gathers_of_four_elements_take_more_than_their_loads(code: str, name: str, cycles: float) -> None:
    """uops.info: 4.00 and 3.00; four loads on two ports take 2."""
    made = predicted(code, name)
    assert made.cycles_per_iteration == pytest.approx(cycles, abs=0.05)
    assert "Throughput" in made.bottlenecks
    assert made.bounds["Throughput"] == cycles


def test_the_published_model_has_no_such_rule() -> None:
    made = predicted(COPIED_MASK, "SKL", PUBLISHED)
    assert made.cycles_per_iteration == pytest.approx(2.0, abs=0.05)
    assert "Throughput" not in made.bounds


@pytest.mark.parametrize(
    ("code", "name", "cycles"),
    [(RDTSCP, "SKL", 32), (RDTSCP, "SPR", 33), (RDTSCP, "GNR", 33), (LDMXCSR, "SKL", 3), (LDMXCSR, "ADL", 4)],
)
def test_others_take_their_measured_throughput(code: str, name: str, cycles: float) -> None:
    assert predicted(code, name).cycles_per_iteration == pytest.approx(cycles, abs=0.3)


# Instructions of the system, and comparisons of two words: uops.info's throughput. Before, the first took 38.
FOUR_ROUNDS = "0f3accca00 0f3accda00 0f3acce200 0f3accea00"
FOUR_BLENDS = "c4e3754ac230 c4e3754ae230 c4e3754aea30 c4e3754af230"
MICROCODE = [
    ("xsave [rsi]", "0fae26", "SKL", 61),
    ("xsave [rsi]", "0fae26", "ADL", 86),
    ("lsl eax, ebx", "0f03c3", "SKL", 58),
    ("lar eax, ebx", "0f02c3", "SKL", 60),
    ("verr [rsi]", "0f0026", "ADL", 81),
    ("xgetbv", "0f01d0", "ADL", 20),
    ("wrpkru", "0f01ef", "SPR", 35),
    ("cmpxchg16b [rsi]", "480fc70e", "SKL", 14),
    ("cmpxchg8b [rsi]", "0fc70e", "ADL", 11),
    ("fxsave [rsi]", "0fae06", "ADL", 72.5),
    ("fxsave [rsi]", "0fae06", "SKL", 61.5),
    ("rdpmc", "0f33", "SKL", 40),
    ("rdpmc", "0f33", "ADL", 9),
    ("smsw eax", "0f01e0", "SKL", 9),
    ("sldt eax", "0f00c0", "SKL", 6),
    ("str eax", "0f00c8", "SKL", 7),
    ("sgdt [rsi]", "0f0106", "SKL", 8),
    ("lahf", "9f", "ICL", 3),
    ("vzeroall", "c5fc77", "ADL", 16),
    ("lodsb", "ac", "ADL", 2.2),
    ("stosq", "48ab", "ADL", 2),
    ("serialize", "0f01e8", "ADL", 105.3),
    ("lfence", "0faee8", "ADL", 12),
    ("lfence", "0faee8", "RKL", 11),
    ("four sha1rnds4", FOUR_ROUNDS, "ICL", 12),
    ("four vblendvps of ymm", FOUR_BLENDS, "SKL", 4),
    ("four vblendvps of ymm", FOUR_BLENDS, "ICL", 4),
    ("two cmpxchg of registers", "0fb1cb 0fb1ca", "SKL", 10),
    ("four sha1rnds4", FOUR_ROUNDS, "ADL", 12),
]


@pytest.mark.parametrize(("text", "code", "name", "cycles"), MICROCODE)
def test_microcode_takes_its_measured_throughput(text: str, code: str, name: str, cycles: float) -> None:
    made = predicted(in_a_loop(code.replace(" ", "")), name)
    assert made.cycles_per_iteration == pytest.approx(cycles, abs=0.5), text


# What two instructions of different forms took together on an Emerald Rapids, per iteration.
TOGETHER = {
    "lock add; lock xadd": ("f0480107 f0480fc15f40", 36.0),
    "lock add of 64 and of 32 bits": ("f0480107 f0015f40", 36.0),
    "xchg; lock add": ("488707 f048015f40", 35.0),
    "lock cmpxchg; lock add": ("f0480fb11f f048015f40", 37.1),
    "vgatherdps; vpgatherdd": ("c5ed76d2 c4e26d92048e c5dd76e4 c4e25d901c8e", 8.2),
    "aeskeygenassist, vaeskeygenassist": ("660f3adfd101 c4e379dfc101", 27.0),
}
# sfence and stores to different lines; also a locked addition.
STORE_FENCES = {
    "sfence": ("0faef8", 6.0),
    "sfence; mov [rsi], rax": ("0faef8 488906", 7.0),
    "mov [rsi], rax; sfence": ("488906 0faef8", 7.0),
    "sfence; vmovups [rsi], ymm0": ("0faef8 c5fc1106", 7.0),
    "sfence; two stores": ("0faef8 488906 48894640", 8.0),
    "sfence; four stores": ("0faef8 488906 48894640 48898680000000 488986c0000000", 10.0),
    "two sfence, a store": ("0faef8 0faef8 488906", 13.0),
    "sfence; mov rax, [rsi]": ("0faef8 488b06", 6.0),
    "sfence; lock add": ("0faef8 f0480107", 25.0),
    "two lock add, a store": ("f0480107 f048014740 48891e", 37.1),
}

# A store fence that does not have to wait, because NOPs keep the fences three cycles apart.
FENCES_APART = {
    "8 nop": ("0faef8" + "90" * 8, 5.95),
    "12 nop": ("0faef8" + "90" * 12, 6.04),
    "16 nop": ("0faef8" + "90" * 16, 3.17),
    "18 nop": ("0faef8" + "90" * 18, 3.50),
    "24 nop": ("0faef8" + "90" * 24, 4.50),
    "store, 8 nop": ("0faef8 488906" + "90" * 8, 6.99),
    "store, 16 nop": ("0faef8 488906" + "90" * 16, 6.96),
    "store, 24 nop": ("0faef8 488906" + "90" * 24, 4.67),
    "two sfence, 36 nop": ("0faef8 0faef8" + "90" * 36, 11.98),
}


@pytest.mark.parametrize("case", FENCES_APART)
def test_a_store_fence_that_waits_for_nothing_is_short(case: str) -> None:
    """Measured on an Emerald Rapids; 6 cycles were counted for each."""
    code, cycles = FENCES_APART[case]
    made = predicted(in_a_loop(code.replace(" ", "")), "SPR")
    assert made.cycles_per_iteration == pytest.approx(cycles, rel=0.04)
    assert made.bounds["Throughput"] <= made.cycles_per_iteration


def test_the_wait_for_store_fences_explains_the_figure() -> None:
    """The bound is that of fences which do not wait, unless waiting makes the figure."""
    assert predicted(in_a_loop("0faef8"), "SPR").bottlenecks == ("Throughput",)
    assert predicted(in_a_loop("0faef8" + "90" * 24), "SPR").bounds["Throughput"] == 3


@pytest.mark.parametrize(
    ("cycles", "bound"),
    [(None, 3), (3.0, 3), (5.9, 3), (6.0, 6), (6.12, 6), (6.13, 3), (12.0, 3)],
)
def test_the_wait_counts_if_it_is_the_figure_or_nearly(cycles: float | None, bound: float) -> None:
    """Of SFENCE: 3 cycles, and 6 if it waited."""
    block = block_of(in_a_loop("0faef8"), "SPR")
    assert throughput_bound(block, registry.get("SPR"), cycles) == bound


@pytest.mark.parametrize("case", TOGETHER)
def test_different_forms_keep_each_other_waiting(case: str) -> None:
    """D8: each form had a unit of its own, so that a loop took as long as the slower one."""
    code, cycles = TOGETHER[case]
    made = predicted(in_a_loop(code.replace(" ", "")), "SPR")
    assert made.cycles_per_iteration == pytest.approx(cycles, rel=0.04)
    assert made.bounds["Throughput"] <= made.cycles_per_iteration


@pytest.mark.parametrize("case", STORE_FENCES)
def test_store_fences_keep_stores_in_order_when_they_leave(case: str) -> None:
    """D8: SFENCE took 7 cycles alone and 14.33 with a store, because stores waited to execute."""
    code, cycles = STORE_FENCES[case]
    made = predicted(in_a_loop(code.replace(" ", "")), "SPR")
    assert made.cycles_per_iteration == pytest.approx(cycles, rel=0.04)
    assert made.bounds["Throughput"] <= made.cycles_per_iteration


@pytest.mark.parametrize("code", ["c5e976d2 c4e2e992048e", "c5e976d2 c4e2e993048e"])
def test_gathers_of_two_elements_take_two_cycles(code: str) -> None:
    """2.00 measured on an Emerald Rapids; Alder Lake's published 1.30 made 1.40."""
    made = predicted(in_a_loop(code.replace(" ", "")), "SPR")
    assert made.cycles_per_iteration == pytest.approx(2.0, rel=0.03)


@pytest.mark.parametrize(("name", "cycles"), [("SPR", 42), ("ADL", 160), ("ARL", 43), ("SKL", 140)])
def test_pause_has_its_own_time_on_each_core(name: str, cycles: int) -> None:
    """41.8 measured on an Emerald Rapids; the others by uops.info."""
    made = predicted("f390 49ffcf 75f9", name)
    assert made.cycles_per_iteration == pytest.approx(cycles, abs=1.1)
    assert made.bottlenecks == ("Throughput",)


@pytest.mark.parametrize("name", ["ZEN3", "ZEN4"])
@pytest.mark.parametrize("case", MASKED_STORES)
def test_the_data_of_a_masked_store_are_part_of_its_throughput(name: str, case: str) -> None:
    """A Zen 3 took 11.9 cycles for 256 bits; the held unit took the stored data on top, so 13."""
    code, cycles = MASKED_STORES[case]
    assert predicted(code, name).cycles_per_iteration == pytest.approx(cycles, abs=0.1)
