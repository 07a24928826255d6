"""The static port models: uops spread evenly and at best."""

from fractions import Fraction

import pytest
from cyclelens.analyzer.bounds.ports import port_bound
from cyclelens.analyzer.insight.explain import explain
from cyclelens.analyzer.insight.pressure import port_pressure
from cyclelens.analyzer.insight.static_ports import spread_at_best, spread_evenly, static_ports
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.simulator import simulate
from hypothesis import given, settings
from hypothesis import strategies as st
from testkit.blocks import block_of


def uops(**counts):
    """``uops(p01=2)``: two uops that may use the ports 0 and 1."""
    return {frozenset(name[1:]): Fraction(count) for name, count in counts.items()}


def test_evenly_every_port_gets_the_same_share():
    assert spread_evenly(uops(p01=2, p1=1)) == {"0": 1, "1": 2}


def test_at_best_uops_avoid_the_port_that_others_need():
    assert spread_at_best(uops(p01=2, p1=1)) == {"0": Fraction(3, 2), "1": Fraction(3, 2)}
    assert spread_at_best(uops(p01=1, p1=3)) == {"0": 1, "1": 3}


def test_what_does_not_fit_elsewhere_makes_a_chain_of_sets_tight():
    load = spread_at_best(uops(p0=4, p01=2, p12=2))
    assert load == {"0": 4, "1": 2, "2": 2}


PORTS = st.frozensets(st.sampled_from("0123"), min_size=1)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(PORTS, st.integers(1, 6).map(Fraction), min_size=1, max_size=6))
def test_the_best_spread_is_optimal_and_loses_no_uop(counts):
    load = spread_at_best(counts)
    assert sum(load.values()) == sum(counts.values()) == sum(spread_evenly(counts).values())
    assert max(load.values()) <= max(spread_evenly(counts).values())
    # No set of ports gets less than the uops that can go nowhere else (max-flow, min-cut).
    ports = sorted(load)
    for subset in range(1, 1 << len(ports)):
        chosen = frozenset(port for bit, port in enumerate(ports) if subset >> bit & 1)
        bound_there = sum((count for allowed, count in counts.items() if allowed <= chosen), Fraction(0))
        assert sum(load[port] for port in chosen) >= bound_there
    busiest = frozenset(port for port in ports if load[port] == max(load.values()))
    assert sum(count for allowed, count in counts.items() if allowed <= busiest) == sum(
        load[port] for port in busiest
    )


@pytest.mark.parametrize("code", ["480fafc6480fafde49ffcf75f4", "4801f04801f34801f14801f249ffcf75ef"])
@pytest.mark.parametrize("name", ["SNB", "SKL", "ICL"])
def test_best_is_the_bound_and_no_simulation_beats_it(code, name):
    block, model = block_of(code, name), registry.get(name)
    prediction = explain(block, model, simulate(block, model))
    static = static_ports(prediction)
    assert max(static.best.values()) == pytest.approx(
        port_bound(block, model, prediction.simulation.elimination)
    )
    assert max(port_pressure(prediction).values()) >= max(static.best.values()) - 0.02
    assert max(static.even.values()) >= max(static.best.values())
