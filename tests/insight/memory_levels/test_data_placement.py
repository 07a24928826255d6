"""Where a user says that the data are: what can be said, the figure for it, and the message about anything
else."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.insight import wording
from cyclelens.analyzer.insight.confidence import shows_at_least
from cyclelens.analyzer.insight.memory_levels import wording as memory_wording
from cyclelens.analyzer.insight.memory_levels.placement import DataPlace, place_of, place_of_size
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Target
from cyclelens.analyzer.model.result import Analysis, Prediction
from testkit.kernels import COPY_LOOP

LOOP = f"\n{COPY_LOOP}# cyclelens-end\n"


def analysed(options: str, core: str = "ZEN4", given: str = "", loop: str = LOOP) -> Analysis:
    """The loop with these options in its marker. ``given``: where an option says that the data are."""
    target = Target(microarchitectures=(core,), data=given)
    return Analyzer().analyze(f"# cyclelens-begin copy {options}{loop}", AnalysisOptions(target=target))


def the_prediction(analysis: Analysis) -> Prediction:
    return analysis.regions[0].predictions[0]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("L2", DataPlace("L2")),
        ("l3", DataPlace("L3")),
        ("Memory", DataPlace("memory")),
        ("rsi:L3,rdi:L1", DataPlace(pointers=(("rsi", "L3"), ("rdi", "L1")))),
        ("%RSI:memory", DataPlace(pointers=(("rsi", "memory"),))),
        ("2MiB", DataPlace(size=2 << 20)),
    ],
)
def test_a_place_is_a_level_pointers_or_a_size(text: str, place: DataPlace) -> None:
    assert place_of(text) == place


@pytest.mark.parametrize("text", ["", "L4", "rsi", "rsi:L4", "rsi:L2,rdi", "L1,L2", "-2MiB", "2 TB"])
def test_anything_else_gets_one_message_with_what_is_valid(text: str) -> None:
    with pytest.raises(ValueError, match=r"use a level \(L1, L2, L3, memory\).*rsi:L3,rdi:L1.*2MiB"):
        place_of(text)


def test_a_working_set_is_a_size() -> None:
    assert place_of_size("256KiB") == DataPlace(size=256 << 10)
    with pytest.raises(ValueError, match=r"'L2' is not the size of a working set: use .*2MiB"):
        place_of_size("L2")


@pytest.mark.parametrize(
    ("options", "cycles", "said"),
    [
        ("data=L2", 2.0, "2.00 cycles/iter (data in L2; 1.00 in L1)"),
        ("data=memory", 6.9, "6.90 cycles/iter (data in memory; 1.00 in L1)"),
        ("data=rsi:L3,rdi:L1", 1.225, "1.23 cycles/iter (rsi in L3, rdi in L1; 1.00 in L1)"),
        ("working-set=16KiB", 1.0, "1.00 cycles/iter (data in L1; 1.00 in L1)"),
        ("working-set=2MiB", 2.45, "2.45 cycles/iter (data in L3; 1.00 in L1)"),
        ("working-set=1GiB", 6.9, "6.90 cycles/iter (data in memory; 1.00 in L1)"),
    ],
)
def test_the_headline_is_the_figure_of_the_place_and_says_so(options: str, cycles: float, said: str) -> None:
    analysis = analysed(options)
    prediction = the_prediction(analysis)
    assert analysis.problems == ()
    assert prediction.shown_cycles == pytest.approx(cycles, abs=0.005)
    assert prediction.cycles_per_iteration == 1.0
    assert wording.cycles_per(prediction) == said


def test_transfers_are_what_limits_a_figure_that_is_longer_than_the_work_of_the_core() -> None:
    assert wording.bound_of(the_prediction(analysed("data=L3"))) == "transfer-bound"
    assert wording.bound_of(the_prediction(analysed("data=L1"))) != "transfer-bound"


def test_an_option_wins_over_the_marker() -> None:
    assert the_prediction(analysed("data=L2", given="L3")).shown_cycles == pytest.approx(2.45)
    assert the_prediction(analysed("", given="2MiB")).shown_cycles == pytest.approx(2.45)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("data=L4", "'L4' does not say where the data are: use a level (L1, L2, L3, memory), "),
        ("working-set=huge", "'huge' is not the size of a working set: use "),
        ("data=rdx:L2", "'copy' walks through no array by rdx; its pointers are rsi and rdi"),
    ],
)
def test_a_wrong_value_in_a_marker_is_one_problem_at_its_line(options: str, message: str) -> None:
    analysis = analysed(options)
    (problem,) = analysis.problems
    assert (problem.code, problem.line) == ("bad-option-value", 0)
    assert problem.message.startswith(message)
    assert the_prediction(analysis).shown_cycles == 1.0


def test_a_marker_for_a_loop_without_streams_has_no_effect_and_an_option_is_silent() -> None:
    loop = "\n1: add (%rsi), %rax\n dec %rcx\n jnz 1b\n# cyclelens-end\n"
    (problem,) = analysed("data=L2", loop=loop).problems
    assert problem.message == "data= has no effect: 'copy' walks through no array"
    assert analysed("", given="L2", loop=loop).problems == ()


END = " dec %rcx\n jnz 1b\n# cyclelens-end\n"
INDEXED = f"\n1: mov (%rsi), %eax\n add (%rdi,%rax,8), %rbx\n add $4, %rsi\n{END}"
COLUMN = f"\n1: add (%rsi), %rax\n add $8192, %rsi\n{END}"
GATHER = (
    "\n1: vpcmpeqd %ymm2, %ymm2, %ymm2\n vpgatherdd %ymm2, (%rdi,%ymm1,4), %ymm3\n"
    f" vpaddd %ymm3, %ymm1, %ymm1\n{END}"
)


@pytest.mark.parametrize("loop", [INDEXED, COLUMN, GATHER])
@pytest.mark.parametrize("core", ["ZEN4", "GNR"])
def test_beyond_the_first_level_accesses_that_are_no_stream_make_a_lower_bound(loop: str, core: str) -> None:
    beyond = the_prediction(analysed("data=L3", core, loop=loop))
    assert shows_at_least(beyond)
    assert "in L3" in memory_wording.lacking(beyond)
    assert beyond.shown_cycles >= beyond.cycles_per_iteration
    near = the_prediction(analysed("data=L1", "ZEN4", loop=loop))
    assert not shows_at_least(near)
    assert near.shown_cycles == near.cycles_per_iteration


def test_a_chase_on_a_core_without_levels_is_a_lower_bound() -> None:
    loop = "\n1: mov (%rax), %rax\n dec %rcx\n jnz 1b\n# cyclelens-end\n"
    analysis = analysed("data=L3", "GNR", loop=loop)
    assert analysis.problems == ()
    assert shows_at_least(the_prediction(analysis))


def test_an_option_that_changes_no_figure_of_code_with_data_says_so() -> None:
    loop = "\n vmovups (%rsi), %ymm0\n add $32, %rsi\n# cyclelens-end\n"
    (problem,) = analysed("mode=unroll", given="L3", loop=loop).problems
    assert problem.message == "'copy' walks through no array in a loop, so its figure is for data in L1"


def test_of_two_places_in_a_marker_one_counts() -> None:
    analysis = analysed("data=L2 working-set=2MiB")
    (problem,) = analysis.problems
    assert problem.message == "'copy' has data= and working-set=; only data= counts"
    assert the_prediction(analysis).shown_cycles == 2.0


def test_a_level_without_a_figure_leaves_that_of_the_first_one() -> None:
    prediction = the_prediction(analysed("data=memory", core="SKL"))
    assert prediction.shown_cycles == prediction.cycles_per_iteration == 1.0
    (told,) = [each.message for each in prediction.assumptions if each.code == "warm-caches"]
    assert "Data in memory has no figure, so the figure is for L1." in told


def test_mispredicted_branches_come_on_top_of_the_place() -> None:
    alone = the_prediction(analysed("data=L2"))
    both = the_prediction(analysed("data=L2 mispredicted=0.1"))
    assert both.mispredictions is not None
    assert both.mispredictions.base == alone.shown_cycles
    assert both.shown_cycles > alone.shown_cycles


def test_a_chase_of_pointers_takes_the_latency_of_the_place() -> None:
    loop = "\n1: mov (%rax), %rax\n dec %rcx\n jnz 1b\n# cyclelens-end\n"
    analysis = analysed("data=L3", loop=loop)
    assert analysis.problems == ()
    assert wording.cycles_per(the_prediction(analysis)) == "50.00 cycles/iter (data in L3; 4.00 in L1)"
    assert the_prediction(analysed("data=memory", loop=loop)).shown_cycles == 4.0


@pytest.mark.parametrize(
    ("size", "cycles"),
    # Measured on an EPYC 9004: 13.9, 16.0, 17.5 and 56 to 58 cycles; 72 pages of 4 KiB need no translation.
    [
        ("256KiB", 14.0),
        ("384KiB", 14 + 7 * (1 - 288 / 384)),
        ("512KiB", 14 + 7 * (1 - 288 / 512)),
        ("4MiB", 56.5),
    ],
)
def test_a_chase_beyond_the_pages_of_the_tlb_takes_longer(size: str, cycles: float) -> None:
    loop = "\n1: mov (%rax), %rax\n dec %rcx\n jnz 1b\n# cyclelens-end\n"
    found = the_prediction(analysed(f"working-set={size}", loop=loop)).shown_cycles
    assert found == pytest.approx(cycles, abs=0.05)
