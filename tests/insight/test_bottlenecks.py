"""Which limits are named for a figure (the uiCA model's table of bottlenecks)."""

import pytest
from cyclelens.analyzer.insight.bottlenecks import applicable_bounds, bottlenecks
from factories import simulation, usage


def named(cycles, bounds, sources=("DSB",), **simulated):
    usages = simulated.pop("usages", [usage() for _ in sources])
    return bottlenecks(bounds, simulation(cycles, usages, first_sources=sources, **simulated))


@pytest.mark.parametrize(("bound", "is_named"), [(4.0, True), (3.92, True), (3.91, False), (0.0, False)])
def test_a_bound_is_named_from_98_percent_of_the_figure(bound, is_named):
    assert named(4.0, {"ports": bound}) == (("Ports",) if is_named else ("unknown",))


def test_bounds_are_rounded_to_two_decimals_first_but_dependencies_are_not():
    assert named(1.0, {"issue": 0.9751}) == ("Issue",)
    assert named(1.0, {"dependencies": 0.9751}) == ("unknown",)


def test_several_names_are_alphabetical():
    assert named(1.0, {"ports": 1.0, "dependencies": 1.0, "issue": 1.0}) == ("Dependencies", "Issue", "Ports")


def test_the_predecoder_counts_only_if_everything_is_decoded():
    assert named(2.0, {"predecoder": 2.0}, sources=("MITE", "MITE")) == ("Predecoder",)
    assert named(2.0, {"predecoder": 2.0}, sources=("MITE", "DSB")) == ("unknown",)


@pytest.mark.parametrize(
    ("bound", "source", "name"),
    [("decoder", "MITE", "Decoder"), ("dsb", "DSB", "DSB"), ("lsd", "LSD", "LSD")],
)
def test_a_front_end_path_counts_only_if_it_delivers(bound, source, name):
    assert named(2.0, {bound: 2.0}, sources=(source,)) == (name,)
    assert named(2.0, {bound: 2.0}, sources=("MS",)) == ("unknown",)


def test_bounds_of_paths_that_do_not_deliver_are_left_out():
    simulated = simulation(1.0, [usage()], first_sources=("LSD",))
    bounds = {"predecoder": 2.0, "decoder": 2.0, "dsb": 2.0, "lsd": 1.0, "issue": 1.0}
    assert applicable_bounds(bounds, simulated) == {"lsd": 1.0, "issue": 1.0}


def test_scheduling_is_named_if_one_port_is_busy_although_the_ports_together_are_not():
    assert named(2.0, {"ports": 1.5}, busiest_port=2.0) == ("Scheduling",)
    assert named(2.0, {"ports": 2.0}, busiest_port=2.0) == ("Ports",)
    assert named(2.0, {"ports": 0.0}, busiest_port=2.0) == ("unknown",)


def test_the_divider_is_named_from_99_percent_of_the_figure():
    assert named(4.0, {}, usages=[usage(divider=3.0), usage(divider=1.0)], sources=("DSB", "DSB")) == (
        "Divider",
    )
    assert named(4.0, {}, usages=[usage(divider=3.95)]) == ("unknown",)
