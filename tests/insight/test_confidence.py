"""What the user learns about how far a figure can be trusted."""

import pytest
from cyclelens.analyzer.insight import wording
from cyclelens.analyzer.insight.confidence import is_lower_bound, lacking, reservations
from cyclelens.analyzer.insight.label import headline, of_prediction
from testkit.blocks import templates_of
from testkit.factories import facts, prediction, template


def test_measured_figures_need_no_reservation():
    block = prediction([template()])
    assert not is_lower_bound(block)
    assert reservations(block) == ()


def test_an_instruction_without_figures_makes_the_prediction_a_lower_bound():
    block = prediction([template(), template(facts=None)])
    assert is_lower_bound(block)
    (sentence,) = reservations(block)
    assert sentence.startswith("1 instruction has no figures on SKL: the figure is a lower bound")


def test_a_lower_bound_is_written_as_one_and_names_no_bottleneck():
    block = prediction([template(), template(facts=None)], cycles=4.0)
    assert wording.figure_of(block) == wording.rounded(block) == "at least 4.00"
    assert headline([of_prediction(block)]) == "at least 4.00 cycles/iter · SKL · no figures for add"
    assert wording.limits(block) == "not known (no figures for add)"
    assert wording.figure_of(prediction([template()], cycles=4.0)) == "4.00"


def test_figures_that_were_not_measured_are_counted():
    block = prediction([template(), template(facts=facts(constructed=True))])
    assert not is_lower_bound(block)
    (sentence,) = reservations(block)
    assert sentence.startswith("The figures of 1 of 2 instructions on SKL")


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("c5fde706", "vmovntdq"),  # vmovntdq [rsi], ymm0
        ("0fc306", "movnti"),  # movnti [rsi], eax
        ("660fae3e", "clflushopt"),  # clflushopt [rsi]
        ("660ff7c1", "maskmovdqu"),  # maskmovdqu xmm0, xmm1
    ],
)
def test_what_goes_to_memory_is_a_lower_bound(code: str, name: str) -> None:
    """Loops of VMOVNTDQ and CLFLUSHOPT took 17 to 320 cycles on an Emerald Rapids; their uops take one."""
    block = prediction(templates_of(code, "SPR"), microarchitecture="SPR")
    assert is_lower_bound(block)
    assert lacking(block) == f"memory decides the time of {name}"
    assert any("the figure is a lower bound" in sentence for sentence in reservations(block))


@pytest.mark.parametrize("core", ["HSW", "ZEN2", "ZEN3", "ZEN5"])
@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("f3a4", "the count decides the time of rep movsb"),
        ("f348ab", "the count decides the time of rep stosq"),
        ("f2ae", "the count decides the time of rep scasb"),  # repne scasb
        ("f3a6", "the count decides the time of rep cmpsb"),
        ("480fc7f0", "the random number generator decides the time of rdrand"),
        ("0fa2", "the leaf decides the time of cpuid"),
        ("ec", "the device decides the time of in"),
    ],
)
def test_what_more_than_the_core_decides_is_a_lower_bound(code: str, reason: str, core: str) -> None:
    """RDRAND took 3,971 cycles on Zen 3 and 65 on Zen 4; REP MOVSB of any length has one figure."""
    block = prediction(templates_of(code, core), microarchitecture=core)
    assert is_lower_bound(block)
    assert reason in lacking(block)
    assert f"{reason[0].upper()}{reason[1:]}: the figure is a lower bound." in reservations(block)


# The last three: movsb, rep ret, bnd jmp.
@pytest.mark.parametrize(
    "code", ["c5fd6f06", "c5fd7f06", "c4e27d2a06", "0f1806", "a4", "f3c3", "f2e900000000"]
)
def test_loads_stores_prefetches_and_single_string_instructions_are_not(code: str) -> None:
    """vmovdqa in both directions, vmovntdqa, prefetchnta"""
    assert not is_lower_bound(prediction(templates_of(code, "SPR"), microarchitecture="SPR"))
