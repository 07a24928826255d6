"""Code that a region skips is put back before it runs; nothing is run."""

import pytest
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.measuring.harness import Harness
from cyclelens.analyzer.measuring.layout import CannotLayOut, laid_out, leaving
from cyclelens.analyzer.measuring.predicted import compare
from cyclelens.analyzer.measuring.repeated import median_of
from cyclelens.analyzer.measuring.requests import Measurement
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Target
from cyclelens.analyzer.model.result import Assumption, PortBinding
from msgspec.structs import replace

OVER = """# cyclelens-begin over mode=loop
.Lloop:
    addl $1, %eax
    jmp .Lover
    addl $1, %ecx
.Lover:
    subq $1, %rdx
    jne .Lloop
# cyclelens-end
"""
LAID_OUT = bytes.fromhex("83c001eb039090904883ea0175f2")
JOINED = bytes.fromhex("83c001eb034883ea0175f2")


def analysed(text=OVER, core="ZEN4"):
    (region,) = Analyzer().analyze(text, AnalysisOptions(target=Target((core,)))).regions
    return region


class Told(Harness):
    """A harness that gives the figure that it was told, and keeps the requests."""

    def __init__(self, cycles):
        self.cycles, self.requests = cycles, []

    def measure(self, request):
        self.requests.append(request)
        return Measurement(self.cycles, spread=0.001)


def test_skipped_code_is_nops_of_the_same_length():
    region = analysed().region
    assert region.code == JOINED
    assert laid_out(region) == LAID_OUT


def test_skipped_data_is_nops_too():
    text = OVER.replace("addl $1, %ecx", ".long 1, 2")
    assert laid_out(analysed(text).region) == bytes.fromhex("83c001eb08" + 8 * "90" + "4883ea0175ed")


def test_without_offsets_the_jumps_tell_the_gaps():
    assert laid_out(replace(analysed().region, offsets=())) == LAID_OUT


def test_code_in_one_piece_stays_as_it_is():
    region = analysed(OVER.replace("    jmp .Lover\n", "")).region
    assert laid_out(region) == region.code


@pytest.mark.parametrize(
    ("offsets", "why"),
    [
        ((0, 3, 8, 1), "its pieces do not lie in memory in the order in which they run"),
        ((0, 3, 5 + 4096, 9 + 4096), "its pieces lie 4096 bytes apart; at most 4095 are filled"),
    ],
)
def test_other_pieces_are_refused_with_the_reason(offsets, why):
    region = analysed()
    scattered = replace(region, region=replace(region.region, offsets=offsets))
    with pytest.raises(CannotLayOut, match=why):
        laid_out(scattered.region)
    harness = Told(1.0)
    found = compare(harness, scattered, registry.get("ZEN4"))
    assert found.measured.problem == f"the code cannot run by itself: {why}"
    assert not found.agrees
    assert harness.requests == []


def test_the_whole_code_runs_and_the_executed_part_is_predicted():
    region, harness = analysed(), Told(2.0)
    found = compare(harness, region, registry.get("ZEN4"), runs=1)
    assert harness.requests[0].code == LAID_OUT
    assert found.code == JOINED
    assert found.predicted == region.predictions[0].cycles_per_iteration


@pytest.mark.parametrize(
    ("code", "runs"), [("eb06", False), ("ebfc", False), ("eb00", True), ("eb039090", False)]
)
def test_copies_must_not_jump_into_each_other(code, runs):
    assert (leaving(bytes.fromhex(code)) == "") is runs


def test_a_figure_too_small_for_any_code_is_no_figure():
    found = median_of([Measurement(0.05), Measurement(0.0), Measurement(-0.0)])
    assert found.cycles is None
    assert found.problem.startswith("it took less than 0.05 cycles per iteration")
    assert median_of([Measurement(0.17)]).cycles == 0.17


# ---------------------------------------------------------------------------------------------------------
# What the analysis says of its figure


SUM = """# cyclelens-begin sum
.Lsum:
    addq $4, %rax
    subq $1, %rdx
    jne .Lsum
# cyclelens-end
"""


def causes(measured, *assumed, binding=None, text=SUM):
    region = analysed(text)
    (prediction,) = region.predictions
    told = replace(prediction, port_binding=binding, assumptions=assumed)
    found = compare(Told(measured), replace(region, predictions=(told,)), registry.get("ZEN4"), runs=1)
    return [each for each in found.causes if each.startswith(("range", "assumption"))]


def test_the_range_of_the_figure_explains_what_it_includes():
    said = "range: the figure is 1.00 (to 1.41: depends on unit binding), which includes the measured one"
    assert causes(1.44, binding=PortBinding(1.0, 1.41)) == [said]
    assert causes(1.5, binding=PortBinding(1.0, 1.41)) == []
    assert causes(1.01, binding=PortBinding(1.0, 1.41)) == []  # agrees


def test_the_range_of_other_code_explains_nothing():
    """The harness puts its own counter in place of the comparison's jump."""
    text = SUM.replace("subq $1, %rdx", "testq %rcx, %rcx")
    assert causes(1.3, binding=PortBinding(1.0, 1.41), text=text) == []


def test_assumptions_that_may_be_the_cause_are_named_by_their_code():
    more = Assumption("measured-otherwise", "", values={"difference_cycles": 0.3})
    less = Assumption("measured-otherwise", "", values={"difference_cycles": -0.3})
    said = "assumption: 'measured-otherwise', which cyclelens analyze explains, may be the cause"
    assert causes(1.3, more, more) == causes(0.8, less) == [said]
    assert causes(0.8, more) == causes(1.3, less) == []
    assert causes(1.3, Assumption("warm-caches", "")) == []
    (gather,) = causes(0.8, Assumption("gather-neighbours", ""))
    assert "'gather-neighbours'" in gather
