"""Every policy that a core can name is there, and has the interface of its kind."""

from importlib import import_module

import pytest
from cyclelens.analyzer.simulator import policies
from cyclelens.analyzer.simulator.back_end.binding import Binding
from cyclelens.analyzer.simulator.back_end.commit_rule import CommitRule
from cyclelens.analyzer.simulator.back_end.dispatch_rule import DispatchRule
from cyclelens.analyzer.simulator.back_end.picker import Picker
from cyclelens.analyzer.simulator.front_end.front_end import FrontEnd

INTERFACES = (
    (policies.FRONT_ENDS, FrontEnd),
    (policies.BINDINGS, Binding),
    (policies.PICKERS, Picker),
    (policies.DISPATCH_RULES, DispatchRule),
    (policies.STORE_COMMITS, CommitRule),
)


@pytest.mark.parametrize(
    ("place", "interface"),
    [
        pytest.param(place, interface, id=name)
        for named, interface in INTERFACES
        for name, place in named.items()
    ],
)
def test_policies_have_their_interface(place: tuple[str, str], interface: type) -> None:
    file, name = place
    policy = getattr(import_module(f"cyclelens.analyzer.simulator.{file}"), name)
    assert issubclass(policy, interface)
    assert policy is not interface


def test_ablations_take_the_place_of_policies() -> None:
    assert policies.ABLATIONS.keys() == {"simple_front_end", "random_ports"}
    for file, name in policies.ABLATIONS.values():
        policy = getattr(import_module(f"cyclelens.analyzer.simulator.{file}"), name)
        assert issubclass(policy, FrontEnd | Binding)
