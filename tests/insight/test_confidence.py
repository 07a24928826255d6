"""What the user learns about how far a figure can be trusted."""

import pytest
from blocks import templates_of
from cyclelens.analyzer.insight import wording
from cyclelens.analyzer.insight.confidence import is_lower_bound, lacking, reservations
from cyclelens.analyzer.insight.label import headline, of_prediction
from factories import facts, prediction, template


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


@pytest.mark.parametrize("code", ["c5fd6f06", "c5fd7f06", "c4e27d2a06", "0f1806"])
def test_loads_stores_and_prefetches_are_not(code: str) -> None:
    """vmovdqa in both directions, vmovntdqa, prefetchnta"""
    assert not is_lower_bound(prediction(templates_of(code, "SPR"), microarchitecture="SPR"))
