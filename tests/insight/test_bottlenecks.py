"""Which limits are named for a figure (the uiCA model's table of bottlenecks)."""

import pytest
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.insight.bottlenecks import bottlenecks
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Target
from testkit.factories import simulation, usage


def named(cycles, bounds, usages=(), **simulated):
    return bottlenecks(bounds, simulation(cycles, usages or [usage()], **simulated))


@pytest.mark.parametrize(("bound", "is_named"), [(4.0, True), (3.92, True), (3.91, False), (0.0, False)])
def test_a_bound_is_named_from_98_percent_of_the_figure(bound, is_named):
    assert named(4.0, {"Ports": bound}) == (("Ports",) if is_named else ("unknown",))


def test_bounds_are_rounded_to_two_decimals_first_but_dependencies_are_not():
    assert named(1.0, {"Issue": 0.9751}) == ("Issue",)
    assert named(1.0, {"Dependencies": 0.9751}) == ("unknown",)


def test_several_names_are_alphabetical():
    assert named(1.0, {"Ports": 1.0, "Dependencies": 1.0, "Issue": 1.0}) == ("Dependencies", "Issue", "Ports")


def test_scheduling_is_named_if_one_port_is_busy_although_the_ports_together_are_not():
    assert named(2.0, {"Ports": 1.5}, busiest_port=2.0) == ("Scheduling",)
    assert named(2.0, {"Ports": 2.0}, busiest_port=2.0) == ("Ports",)
    assert named(2.0, {"Ports": 0.0}, busiest_port=2.0) == ("unknown",)


def test_the_divider_is_named_from_99_percent_of_the_figure():
    assert named(4.0, {}, usages=[usage(divider=3.0), usage(divider=1.0)]) == ("Divider",)
    assert named(4.0, {}, usages=[usage(divider=3.95)]) == ("unknown",)


def test_a_unit_that_is_held_is_no_divider():
    """On Zen 3 two pipes make the product of polynomials; the measured throughput is longer (M21)."""
    text = "# cyclelens-begin x\n.L1:\n{}\n dec %r15\n jnz .L1\n# cyclelens-end\n"

    def found(statement):
        options = AnalysisOptions(target=Target(microarchitectures=("ZEN3",)))
        (region,) = Analyzer().analyze(text.format(statement), options).regions
        prediction = region.predictions[0]
        return prediction.bottlenecks, prediction.simulation.usage[0].divider

    assert found("vpclmulqdq $0, %xmm1, %xmm0, %xmm2") == (("Ports",), 0)
    assert found("vhaddps %ymm1, %ymm1, %ymm2") == (("Ports",), 0)
    names, divider = found("vdivpd %ymm1, %ymm2, %ymm3")
    assert names == ("Divider",) and divider > 0
